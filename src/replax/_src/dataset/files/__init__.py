"""Record files: one format a module, all read through ``format.FileReader``."""
