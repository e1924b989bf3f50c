"""Differential execution: runs two programs on the same inputs in a sandbox and compares what they do.

`oracle.Oracle` gives the evidence `executed`. `calls` evaluates calls, and runs programs with their tests,
in the same sandbox. Linux only: the containment needs seccomp and Landlock.
"""
