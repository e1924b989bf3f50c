"""Where samples come from: source files, installed packages and tables.

`specs.corpus(text)` reads the command line's SPEC, `Corpus.read` streams raw samples, and
`selection.select` draws a fixed number of examples from them.
"""
