"""What may still change."""

from replax.experimental import Optional

__all__ = ["Optional"]
