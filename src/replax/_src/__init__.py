"""The implementation. Everything below is private; the public names are one level up."""
