"""SPE attention (Jiao, Chen and Zhang), SYMC and the vanilla network: naming functions, finding bugs."""
