"""What strategies hand out and keep: per-replica values and variables."""
