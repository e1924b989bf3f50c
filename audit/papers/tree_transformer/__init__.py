"""The tree transformer (Peng et al.) and its baselines: two-dimensional positions in syntax trees."""
