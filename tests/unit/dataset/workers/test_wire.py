"""Values arrive as they were sent."""

from __future__ import annotations

import socket
import threading
from typing import Any

import numpy as np
import pytest

from replax._src.dataset.workers.wire import Message, Wire, pack

SECONDS = 60


def exchanged(*messages: Message) -> list[Message | None]:
    """What the other side receives, until there is no more."""
    one, other = socket.socketpair()
    one.settimeout(SECONDS)
    other.settimeout(SECONDS)

    def send() -> None:
        wire = Wire(one)
        for message in messages:
            wire.send(message)
        wire.finish()

    with one, other:
        thread = threading.Thread(target=send)
        thread.start()
        got = [Wire(other).receive() for _ in range(len(messages) + 1)]
        thread.join(SECONDS)
    return got


VALUES = {
    "none": None,
    "builtins": {"text": "ä", "numbers": [1, 2.5, True], "bytes": b"\0" * 100_000},
    "rows": np.arange(6).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "strided": np.arange(10)[::2],
    "scalar": np.array(3.5, np.float16),
    "empty": np.zeros((0, 4)),
    "objects": np.array(["a", None, 3], object),
    "many": [np.full(100, i) for i in range(50)],
}


@pytest.mark.parametrize("value", VALUES.values(), ids=list(VALUES))
def test_a_value_arrives_as_it_was(value: Any) -> None:
    message, end = exchanged(pack(3, 1, value))
    assert end is None
    assert message is not None
    assert (message.number, message.kind) == (3, 1)
    np.testing.assert_equal(message.value(), value)


def test_arrays_are_not_copied_into_the_pickle() -> None:
    array = np.zeros(1_000_000)
    message = pack(0, 0, {"x": array})
    assert len(message.body) < 1000
    assert np.shares_memory(np.asarray(message.buffers[0]), array)


def test_arrays_that_arrive_can_be_written_unless_they_could_not() -> None:
    fixed = np.zeros(10)
    fixed.flags.writeable = False
    message, _ = exchanged(pack(0, 0, (np.zeros(10), fixed)))
    assert message is not None
    free, still_fixed = message.value()
    assert free.flags.writeable
    assert not still_fixed.flags.writeable


def test_messages_come_in_order_and_whole() -> None:
    sent = [pack(i, 0, np.full(i * 10_000, i)) for i in range(20)]
    *got, end = exchanged(*sent)
    assert end is None
    for i, message in enumerate(got):
        assert message is not None
        assert message.number == i
        np.testing.assert_array_equal(message.value(), np.full(i * 10_000, i))


def test_a_message_that_breaks_off_is_no_message() -> None:
    one, other = socket.socketpair()
    with one, other:
        Wire(one).send(pack(0, 0, np.zeros(1000)))
        one.close()
        head = bytearray(200)
        other.recv_into(head)
        first, second = socket.socketpair()
        with first, second:
            first.sendall(head)
            first.close()
            assert Wire(second).receive() is None


def test_a_local_function_is_pickled_by_what_it_is_made_of() -> None:
    offset = 40
    message, _ = exchanged(pack(0, 0, [lambda x: x + offset]))
    assert message is not None
    assert message.value()[0](2) == 42


def test_what_cannot_be_pickled_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot pickle"):
        pack(0, 0, threading.Lock())


def test_reducers_say_how_a_class_is_pickled() -> None:
    message = pack(0, 0, [1 + 2j], {complex: lambda c: (float, (c.real,))})
    assert message.value() == [1.0]
