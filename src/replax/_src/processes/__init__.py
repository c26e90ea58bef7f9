"""Starting processes that end with this one. It uses the standard library alone."""
