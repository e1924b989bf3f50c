"""The tree transformer (Peng et al.) and what it is compared with: two-dimensional positions in trees."""
