"""The plan of a dataset, its execution and its sources."""
