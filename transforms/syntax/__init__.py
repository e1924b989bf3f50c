"""What a language needs that is not about the language: trees, texts, scopes, places, effects, control flow.

Everything here works on `Node` objects whose kinds and fields have one name in all languages: those of the
grammar of Java, where it has them. A language's `Grammar` says what its own grammar calls them.
"""
