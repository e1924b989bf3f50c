"""Hidden columns of a transformer in another order: the weights change, what they compute does not.

Permutation equivariance (Xu et al. 2024, section 4). Which axes of which weights have to move together is
read off the traced computation, so there is no list of architectures. `axes` joins what an operation ties
together, `tracing` walks the graph of operations, `groups` and `layout` hold what was found, `permute` moves
weights, `proof` measures the theorems on a module, `rows` permutes tokens, `sealing` does all of it to files
under a key, and `recovery` is the attack that undoes it. torch is imported by those that need it.
"""
