"""Runs perturbed suites against any code model and judges whether its answers held."""
