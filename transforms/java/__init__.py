"""Java: transforms that reorder, rename and rewrite methods and classes, and the analysis that proves
them.
"""
