package fuzz;

/** Keys of one hash, that of "k", which are seen only where they are compared. */
public class Same implements Comparable<Same> {
    final int number;

    public Same(int number) { this.number = number; }

    @Override public int hashCode() { return "k".hashCode(); }

    @Override public boolean equals(Object other) { return this == other; }

    @Override public int compareTo(Same other) {
        Base.total++;
        Base.log("compare" + Base.words + Base.total);
        return Integer.compare(number, other.number);
    }
}
