"""Plans as they are executed: what options say about threads and processes."""

from __future__ import annotations

from replax._src.dataset.node import Node
from replax._src.dataset.options import Options

__all__ = ["executed"]


def executed(plan: Node, options: Options) -> Node:
    """The plan, with its functions called where the options say."""
    del options
    return plan
