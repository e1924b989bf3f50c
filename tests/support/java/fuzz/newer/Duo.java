package fuzz.newer;

import fuzz.Node;

public record Duo(Node left, Integer right) { }
