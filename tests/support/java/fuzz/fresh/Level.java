package fuzz.fresh;

import fuzz.Base;

public enum Level {
    LOW, HIGH { @Override public int cost() { return 7; } };

    static { Base.log("levels"); }

    public int cost() { return 2; }

    public static Level of(int x) { return x % 4 == 3 ? null : (x & 1) == 0 ? LOW : HIGH; }
}
