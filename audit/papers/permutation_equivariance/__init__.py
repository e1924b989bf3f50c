"""Models with permuted columns: the wrapper `columns`, and sealing and authorising checkpoints.

Xu, Xiang, Ye, Yao, Chu and Li, "Permutation Equivariance of Transformers and Its Applications". The
permutations themselves are in `codeaudit.transforms.columns`.
"""
