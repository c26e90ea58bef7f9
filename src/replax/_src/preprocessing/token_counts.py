"""How often tokens are found in data, and in how many documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["TokenCounts"]


class TokenCounts:
    """What a lookup learns from data.

    Args:
      by_document: Whether to count documents too, for ``tf_idf``.
    """

    def __init__(self, *, by_document: bool) -> None:
        self._by_document = by_document
        self._counts: Counter[Any] = Counter()
        self._documents: Counter[Any] = Counter()
        self._number = 0

    def add(self, tokens: Sequence[Any], shape: tuple[int, ...]) -> None:
        """Counts a batch; its first axis counts documents, unless it is the only one.

        Args:
          tokens: All tokens of the batch.
          shape: The shape of the array that they were.
        """
        self._counts.update(tokens)
        if not self._by_document:
            return
        number = shape[0] if len(shape) > 1 else 1
        self._number += number
        length = len(tokens) // number if number else 0
        for start in range(0, len(tokens), max(length, 1)):
            self._documents.update(set(tokens[start : start + length]))

    def most_frequent(self, without: Iterable[Any], limit: int | None) -> list[Any]:
        """The tokens, frequent ones first; of equally frequent ones the greater first.

        Args:
          without: Tokens that are no part of a vocabulary.
          limit: How many tokens at most.
        """
        counts = dict(self._counts)
        for token in without:
            counts.pop(token, None)
        ordered = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
        return ordered[:limit]

    def rareness(self, tokens: Sequence[Any]) -> np.ndarray:
        """The inverse document frequency of each token."""
        found = np.array([self._documents[token] for token in tokens], np.float64)
        return np.log(1 + self._number / (1 + found)).astype(np.float32)

    def state(self) -> Any:
        """What was counted, for :meth:`merge` in another process."""
        return self._counts, self._documents, self._number

    def merge(self, state: Any) -> None:
        """Adds what was counted elsewhere."""
        counts, documents, number = state
        self._counts.update(counts)
        self._documents.update(documents)
        self._number += number
