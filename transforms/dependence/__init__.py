"""Dependences between lines, for every language: conflicts, layers, symmetry mask, legal orders.

A relation is a sequence of bit masks: bit `u` of `predecessors[v]` is set if line `v` depends on line `u`.
Edges run with the text (u < v), so the order of the text is always legal. The analysis of a language computes
the effects of its statements; everything from there on is computed here. Sources: SPE attention (Pei et al.
2023), and the papers that the modules name.
"""
