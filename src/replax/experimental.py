"""Names that may still change."""

from replax._src.dataset.optional import Optional

__all__ = ["Optional"]
