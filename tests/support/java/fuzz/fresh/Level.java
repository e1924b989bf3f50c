package fuzz.fresh;

/** Its initialiser is silent: of two enums the order would be seen, which is no promise. */
public enum Level {
    LOW, HIGH { @Override public int cost() { return 7; } };

    public int cost() { return 2; }

    public static Level of(int x) { return x % 4 == 3 ? null : (x & 1) == 0 ? LOW : HIGH; }
}
