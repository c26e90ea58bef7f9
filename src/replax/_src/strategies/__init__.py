"""The strategies, each built from the parts below."""
