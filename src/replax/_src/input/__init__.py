"""A dataset, and every replica its share of it."""
