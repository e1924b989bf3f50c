package fuzz;

/** As a record would be; see `Pair` for one. */
public class Holder {
    public Node node;
    public int size;

    public Holder(Node node, int size) {
        this.node = node;
        this.size = size;
    }
}
