"""Functions as the networks take them: words, ids, and relations between lines."""
