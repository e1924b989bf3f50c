package fuzz;

public class Circle {
    public final int r;

    public Circle(int r) { this.r = r; }
}
