"""Differential execution: runs two programs on the same inputs, in a contained process, and compares what
they do.

`oracle.Oracle` gives the evidence `executed`. The same sandbox runs programs with their tests (`trials`) and
evaluates calls (`calls`). Linux only: the containment needs seccomp and Landlock.
"""
