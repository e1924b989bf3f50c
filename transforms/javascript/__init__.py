"""JavaScript (ES2024, with JSX): transforms that rename and rewrite functions, and the analysis that proves
them.
"""
