"""Renamer (Ankner, Renda and Carbin): costs of basic blocks, derivatives, and naming functions."""
