"""The structure of Python code: names, types, effects, blocks and the dependences among them."""
