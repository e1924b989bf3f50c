"""Whole projects: perturbed copies of source folders, and the project's own tests before and after.

Called by `codeaudit transform` (copies and diffs) and `codeaudit verify` (tests). The source is never
changed.
"""
