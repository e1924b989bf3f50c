package fuzz.newer;

import fuzz.Base;

public record Pair(Object left, Object right) {
    public Pair { Base.total++; }

    public Object left() {
        Base.log("left");
        return left;
    }
}
