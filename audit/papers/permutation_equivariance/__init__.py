"""Permutation equivariance (Xu et al.): models whose columns are permuted by a key."""
