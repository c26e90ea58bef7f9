"""Errors, specs and the few JAX names that move. Imports nothing of ours."""
