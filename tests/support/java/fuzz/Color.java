package fuzz;

public enum Color {
    RED, GREEN { @Override public int size() { return Base.log("green"); } }, BLUE;

    public int size() { return 2; }
}
