package fuzz.fresh;

import fuzz.Base;

public class Own {
    public static int start = Base.count("own", 3);
    public static int kept;
    int mine = Base.total;

    { Base.log("made"); }

    public Own(int x) {
        mine += x;
        Base.total += 2;
    }

    public int get() {
        Base.total++;
        return mine;
    }

    public static int made() { return Base.log("made"); }
}
