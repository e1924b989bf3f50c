"""Intervals and tests. Every function takes plain numbers and returns a frozen record, never NaN.

Distributions come from scipy and Conover's test from scikit-posthocs. Exact permutation distributions replace
the approximations for few trials and few discordant inputs. Each function names its source.
"""
