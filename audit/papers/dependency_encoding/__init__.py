"""CoDE (Zhang et al.) and what it is compared with: decoders that predict the next token."""
