package fuzz.fresh;

import fuzz.Base;

public enum Late {
    ONE;

    static {
        Base.log("late");
        Base.words += "late";
    }
}
