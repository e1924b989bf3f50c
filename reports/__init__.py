"""Turns verdicts into rates, statistics, tables and files.

Data flows one way: `summarise` turns the verdicts of a run into a `Summary`; `compare` and `gate` work on
summaries and pairs of verdicts; `sheets` turns a summary into tables of text; `render` writes them in a
format. Nothing here asks a model or rewrites code.
"""
