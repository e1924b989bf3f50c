"""Transforms of Python functions and modules, one folder per family, over one analysis of names, types and
effects.
"""
