"""The implementation: private, below the public names that are one level up."""
