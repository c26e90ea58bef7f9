"""Which devices there are, which of them are replicas, and how much is in flight."""
