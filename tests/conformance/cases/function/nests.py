"""tf.nest: flatten, pack, map over several, and what is not of one structure."""

from typing import Any, NamedTuple

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    class P(NamedTuple):
        x: Any
        y: Any

    n = {"b": [1, None], "a": (2, P(3, "s"))}
    flat = tf.nest.flatten(n)
    packed = tf.nest.pack_sequence_as(n, ["q", "w", "e", "r", "t"])
    return [
        flat,
        packed,
        isinstance(packed["a"][1], P),
        tf.nest.map_structure(lambda a, b: [a, b], (1, [2]), (3, [4])),
        attempt(lambda: tf.nest.map_structure(lambda a, b: a, [1], (1,))),
        attempt(lambda: tf.nest.map_structure(lambda a, b: a, [1], [1, 2])),
        attempt(lambda: tf.nest.assert_same_structure([1], [[1]])),
        attempt(lambda: tf.nest.assert_same_structure({"a": 1}, {"b": 1})),
        attempt(lambda: tf.nest.pack_sequence_as([0, 0], [1])),
        tf.nest.flatten(5),
    ]
