"""Training of the networks that read terms."""
