"""Dependences between lines, whatever the language: conflicts, layers, symmetry mask, legal orders.

A graph is a tuple of bit masks: bit `u` of `predecessors[v]` is set where line `v` depends on line `u`.
Edges run with the text (u < v), so the text's own order is always legal.
"""
