"""Static analysis of one Python function: names, types, effects, blocks, and the dependences among
statements.

Used by every Python transform that has to prove something. `scopes` says which names are one variable,
`effects` what an expression may do, `program` which orders of statements are legal.
"""
