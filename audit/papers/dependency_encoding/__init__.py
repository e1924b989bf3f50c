"""CoDE (Zhang et al.) and its baselines: decoders that predict the next token."""
