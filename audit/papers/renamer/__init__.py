"""Renamer and its baselines: throughput of basic blocks and symbolic derivatives.

Ankner, Renda and Carbin, "Renamer: A Transformer Architecture Invariant to Variable Renaming". `naming`
applies its two changes to networks that read lines.
"""
