"""One folder per paper: its features, networks, recipe, training and checkpoint format.

Papers do not import each other. `lines` holds what several of them share.
"""
