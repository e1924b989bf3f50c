"""CoDE and its baselines: decoders that predict the next token of code.

Zhang, Zhou, Yang, Cheng and Chen, "Beyond Sequences: Two-dimensional Representation and Dependency Encoding
for Code Generation". `naming` applies its attention to networks that read lines.
"""
