package fuzz.newer;

public record Dot() implements Shape { }
