package fuzz.shadow;

import fuzz.Base;

/** Has the name of a class of the JDK, and acts. */
public class Math {
    public static int max(int a, int b) { return Base.count("max", a > b ? a : b); }

    public static int min(int a, int b) { return Base.count("min", a > b ? b : a); }

    public static int abs(int a) { return Base.count("abs", a); }

    public static int floorMod(int a, int b) { return Base.count("mod", a); }

    public static int addExact(int a, int b) { return Base.count("add", b); }
}
