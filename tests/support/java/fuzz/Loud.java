package fuzz;

import java.util.Iterator;

/** An object whose every method is seen, and some of which raise. */
public class Loud implements Comparable<Loud>, CharSequence, Iterable<Integer>, AutoCloseable {
    public int number;

    public Loud(int number) {
        this.number = number;
        Base.log("new" + number);
    }

    @Override public boolean equals(Object other) {
        Base.log("equals" + number);
        Base.total++;
        return other instanceof Loud && ((Loud) other).number == number;
    }

    @Override public int hashCode() {
        Base.log("hash" + number);
        Base.total++;
        return number & 1;
    }

    @Override public int compareTo(Loud other) {
        Base.log("compare" + number);
        if (number == 5) throw new IllegalStateException("compare");
        return Integer.compare(number, other.number);
    }

    @Override public String toString() {
        Base.log("text" + number);
        Base.words += number++;
        if (number == 9) throw new IllegalStateException("text");
        return "Loud" + number;
    }

    @Override public int length() { return Base.log("length" + number); }

    @Override public char charAt(int index) { return (char) ('a' + Base.log("at" + index)); }

    @Override public CharSequence subSequence(int start, int end) { return "sub"; }

    @Override public Iterator<Integer> iterator() {
        Base.log("iterator" + number);
        return new Iterator<Integer>() {
            int left = 2;

            @Override public boolean hasNext() { return left > 0 && Base.log("has" + left) > 0; }

            @Override public Integer next() {
                Base.total += left;
                return left-- == 1 ? null : left;
            }
        };
    }

    @Override public void close() {
        Base.log("close" + number);
        if (number == 7) throw new IllegalStateException("close");
    }
}
