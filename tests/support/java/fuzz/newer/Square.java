package fuzz.newer;

public record Square(int side) implements Shape { }
