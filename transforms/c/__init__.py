"""C (C99 to C23): transforms that rename and rewrite functions, and the analysis that proves them."""
