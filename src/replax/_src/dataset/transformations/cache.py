"""``cache`` and ``snapshot``: elements that are made once and kept."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Iterator

from replax._src.dataset.block import Block
from replax._src.dataset.node import Cursor, Node, Pass, State
from replax._src.dataset.storage import Store, Writing
from replax._src.dataset.structure import ElementSpec

__all__ = ["Cache"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Cache(Node):
    """The elements of one pass over ``child``, again and again.

    Attributes:
      store: Where they are kept.
      name: The name of the method.
    """

    child: Node
    store: Store
    name: str = "cache"

    def label(self) -> str:
        return f"{self.name}({self.store!r})"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        return self.child.cardinality()

    @property
    def varies(self) -> bool:
        return False

    def open(self, pass_: Pass) -> Cursor:
        # Always the first pass: whoever fills the cache, in whichever iteration or
        # after whichever resumption, finds the same elements in the same order.
        return _CacheCursor(self, (0,) * len(pass_))


class _CacheCursor(Cursor):
    """Reads what is stored, or the source, storing what it reads."""

    def __init__(self, node: Cache, pass_: Pass) -> None:
        self._node = node
        self._pass = pass_
        self._number = 0
        self._stored: Iterator[Block] | None = None
        self._rest: Block | None = None
        self._source: Cursor | None = None
        self._writing: Writing | None = None
        self._ended = False

    def take(self, count: int) -> Block | None:
        if self._ended:
            return None
        if self._stored is None and self._source is None:
            if self._node.store.is_complete():
                self._stored = self._node.store.blocks(self._number)
            else:
                self._begin()
        block = self._take_stored(count) if self._stored else self._take_made(count)
        if block is None:
            self._ended = True
        else:
            self._number += block.size
        return block

    def _begin(self) -> None:
        self._source = self._node.child.open(self._pass)
        self._writing = self._node.store.begin()
        # What nobody reads to its end is not kept.
        weakref.finalize(self, self._writing.abandon)
        # What has been given before is made again, to be stored.
        missing = self._number
        while missing and (block := self._take_made(missing)) is not None:
            missing -= block.size

    def _take_stored(self, count: int) -> Block | None:
        assert self._stored is not None
        if self._rest is None:
            self._rest = next(self._stored, None)
        block = self._rest
        if block is None:
            return None
        self._rest = block.part(count, block.size) if count < block.size else None
        return block.part(0, count)

    def _take_made(self, count: int) -> Block | None:
        assert self._source is not None
        assert self._writing is not None
        block = self._source.take(count)
        if block is None:
            self._writing.complete()
            return None
        return self._writing.add(block)

    def state(self) -> State:
        return [self._number, int(self._ended)]

    def restore(self, state: State) -> None:
        self._number, ended = state
        self._ended = bool(ended)

    def close(self) -> None:
        if self._source is not None:
            self._source.close()
        if self._writing is not None and not self._ended:
            self._writing.abandon()
