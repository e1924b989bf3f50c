"""The tree transformer and its baselines: naming functions, and completing syntax trees.

Peng, Li, Zhao and Jin, "Rethinking Positional Encoding in Tree Transformer for Code Representation".
"""
