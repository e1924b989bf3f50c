"""The loops from answers back to perturbations: the smallest edit that flips an answer, and the worst case.

Used by `codeaudit explain` and `codeaudit run --attack`. Nowhere else does an answer decide the next
perturbation.
"""
