"""Examples for tests: their bytes in any form that protobuf takes for one."""

from __future__ import annotations

import dataclasses
import struct

Value = int | float | bytes


def varint(value: int, width: int = 0) -> bytes:
    """The number, in at least ``width`` bytes."""
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80 or len(out) + 1 < width:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, data: bytes, width: int = 0) -> bytes:
    return varint(number << 3 | 2) + varint(len(data), width) + data


@dataclasses.dataclass(frozen=True)
class Feature:
    """A feature, and how it is written."""

    kind: str  # "i", "f", "O", or "" for none
    values: tuple[Value, ...] = ()
    packed: bool = True
    pieces: int = 1  # in how many parts a packed list is written
    width: int = 0  # of its lengths
    int_width: int = 0
    trailing: bytes = b""

    def __bytes__(self) -> bytes:
        number = {"O": 1, "f": 2, "i": 3}.get(self.kind)
        if number is None:
            return self.trailing
        return field(number, self._list(), self.width) + self.trailing

    def _list(self) -> bytes:
        if self.kind == "O":
            return b"".join(field(1, v, self.width) for v in self.values)  # pyright: ignore[reportArgumentType]
        if not self.packed:
            tag = b"\x0d" if self.kind == "f" else b"\x08"
            return b"".join(tag + self._number(v) for v in self.values)
        size = -(-len(self.values) // self.pieces)
        parts = [
            self.values[i : i + size] for i in range(0, len(self.values), size or 1)
        ]
        return b"".join(
            field(1, b"".join(map(self._number, part)), self.width) for part in parts
        )

    def _number(self, value: Value) -> bytes:
        if self.kind == "f":
            return struct.pack("<f", value)
        assert isinstance(value, int)
        return varint(value, self.int_width)


def entry(name: bytes, feature: bytes, *, turned: bool = False) -> bytes:
    """One feature with its name; ``turned`` is with the name last."""
    parts = [field(1, name), field(2, feature)]
    return field(1, b"".join(parts[::-1] if turned else parts))


def example(*entries: bytes, width: int = 0) -> bytes:
    return field(1, b"".join(entries), width)
