package fuzz.fresh;

import fuzz.Base;

/** Reading its field runs code, once. */
public class Lazy {
    public static int value = Base.count("lazy", 1);
}
