package fuzz.shadow;

import fuzz.Base;

/** Has the name of a class of the JDK, and acts. */
public class ArrayList<T> extends java.util.ArrayList<T> {
    public ArrayList() { }

    public ArrayList(int size) { super(size); }

    @Override public boolean add(T one) {
        Base.count("add", super.size());
        return super.add(one);
    }

    @Override public int size() { return Base.total++ < 0 ? 0 : super.size(); }
}
