"""Rewritings that are the same in many languages, each written once against a `Dialect`.

A strategy never asks which language it is in. It asks the dialect how things are spelt, and the `CodeText` of
the language what is known of a text. A question that a language does not answer has the answer that forbids.
"""
