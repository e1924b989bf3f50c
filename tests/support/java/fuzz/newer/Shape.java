package fuzz.newer;

public sealed interface Shape permits Square, Dot { }
