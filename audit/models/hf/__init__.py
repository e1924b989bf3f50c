"""`hf/NAME_OR_PATH`: models of the `transformers` library, each answering by the head that it has."""
