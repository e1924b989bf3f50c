"""One folder per paper: features, networks, recipe, training and checkpoint format.

Papers do not import each other; an import contract checks this. They share `lines` (functions as lines of
words, and the trunk that reads them), `checkpoint` (reading and writing folders) and the trainer in
`codeaudit.audit.training`. `registry` has one row per family of networks.
"""
