"""The one loop from answers back to perturbations: the smallest edit that flips, and the search for one."""
