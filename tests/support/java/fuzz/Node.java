package fuzz;

/** An exception with state, which is also an element of chains. */
public class Node extends RuntimeException {
    public int v;
    public Object value;
    public Node self;

    public Node(int v) {
        super("node" + v);
        this.v = v;
        value = v % 2 == 0 ? null : "v" + v;
        self = v % 3 == 0 ? null : this;
    }

    public Node next() { return v > 2 ? null : new Node(v + 1); }
}
