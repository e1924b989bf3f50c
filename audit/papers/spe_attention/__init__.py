"""SPE attention, and SYMC and a plain transformer as its baselines: naming functions and finding bugs.

Jiao, Chen and Zhang, "SPE Attention: Making Attention Equivariant to Semantic-Preserving Permutation for Code
Processing". Pei et al. (2023), "Exploiting Code Symmetries for Learning Program Semantics" (SYMC).

The features, recipe and training here also serve the attention of two other papers (`networks`).
"""
