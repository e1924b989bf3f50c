package fuzz;

/** Whoever extends it inherits a type with a name of the JDK's. */
public abstract class Rich extends Base {
    public static class Math extends fuzz.shadow.Math { }
}
