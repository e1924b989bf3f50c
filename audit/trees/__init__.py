"""Whole projects: perturbed copies of source trees, and their own tests as the judge of the engines."""
