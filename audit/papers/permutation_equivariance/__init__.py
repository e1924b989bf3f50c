"""Models with permuted columns: the wrappers `columns` and `rows`, and sealing and authorising checkpoints.

Xu, Xiang, Ye, Yao, Chu and Li, "Permutation Equivariance of Transformers and Its Applications". The
permutations themselves are in `codeaudit.transforms.columns`.
"""
