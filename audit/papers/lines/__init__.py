"""Functions as lines of words, and the trunk of the networks that read them: shared by several papers."""
