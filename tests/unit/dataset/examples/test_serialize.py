"""Making examples."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from fresh_process import run_python
from replax._src.dataset.examples.features import VarLenFeature
from replax._src.dataset.examples.message import example_class
from replax._src.dataset.examples.parse import parse_single_example
from replax._src.dataset.examples.serialize import serialize_example


def values_of(value):
    feature = example_class().FromString(serialize_example({"x": value}))
    kind = feature.features.feature["x"].WhichOneof("kind")
    return kind, list(getattr(feature.features.feature["x"], kind).value)


@pytest.mark.parametrize(
    ("value", "kind", "values"),
    [
        (3, "int64_list", [3]),
        (True, "int64_list", [1]),
        (-(2**63), "int64_list", [-(2**63)]),
        (np.arange(4, dtype=np.uint8).reshape(2, 2), "int64_list", [0, 1, 2, 3]),
        (np.array(2**63 - 1, np.uint64), "int64_list", [2**63 - 1]),
        (jnp.arange(3), "int64_list", [0, 1, 2]),
        ([[1, 2], [3, 4]], "int64_list", [1, 2, 3, 4]),
        (0.5, "float_list", [0.5]),
        ([1, 2.5], "float_list", [1.0, 2.5]),
        (jnp.ones(2, jnp.bfloat16), "float_list", [1.0, 1.0]),
        (np.array([np.inf, -np.inf]), "float_list", [np.inf, -np.inf]),
        ("é", "bytes_list", ["é".encode()]),
        (b"\xff\0", "bytes_list", [b"\xff\0"]),
        (["a", b"b\0"], "bytes_list", [b"a", b"b\0"]),
        ([["a"], ["b"]], "bytes_list", [b"a", b"b"]),
        (np.array(["a", "bc"]), "bytes_list", [b"a", b"bc"]),
        (np.array([b"a\0", "x"], object), "bytes_list", [b"a\0", b"x"]),
        (np.array([], np.float32), "float_list", []),
        (np.array([], np.int32), "int64_list", []),
        (np.array([], object), "bytes_list", []),
    ],
)
def test_values(value, kind, values):
    assert values_of(value) == (kind, values)


def test_the_order_of_names_does_not_matter():
    one = serialize_example({"a": 1, "b": "x", "c": 0.5})
    assert one == serialize_example({"c": 0.5, "b": "x", "a": 1})


def test_the_bytes_are_those_of_tensorflow():
    # SerializeToString(deterministic=True) of the same example in TensorFlow 2.21.
    wanted = bytes.fromhex(
        "0a3a0a110a0166120c120a0a080000003f000000c00a160a016912111a0f0a0d01ac02"
        "ffffffffffffffffff010a0d0a017312080a060a01780a0100"
    )
    made = serialize_example({"i": [1, 300, -1], "f": [0.5, -2.0], "s": ["x", b"\0"]})
    assert made == wanted


@pytest.mark.parametrize(
    ("value", "error", "said"),
    [
        ([], ValueError, r"'x' is an empty list.*write np.array\(\[\], dtype\)"),
        (None, TypeError, r"'x' is None of type NoneType, and an example holds"),
        ({"a": 1}, TypeError, r"of type dict, and an example holds"),
        ([1, "a"], TypeError, r"each feature of one kind"),
        (1j, TypeError, r"of type complex, and an example holds"),
        ([[1], [2, 3]], ValueError, r"'x' is no array .* write its values in a row"),
        (2**63, OverflowError, r"'x' cannot be kept: the number 9223372036854775808"),
        (1e300, OverflowError, r"1e\+300 does not fit in a float32.*scale it"),
    ],
)
def test_other_values_are_refused(value, error, said):
    with pytest.raises(error, match=said):
        serialize_example({"x": value})


def test_names_are_strings():
    with pytest.raises(TypeError, match=r"name b'x' .* type bytes; write a string"):
        serialize_example({b"x": 1})  # pyright: ignore[reportArgumentType]


def test_an_empty_example():
    assert (
        parse_single_example(serialize_example({}), {"x": VarLenFeature("int64")})[
            "x"
        ].values.tolist()
        == []
    )


def test_other_descriptors_of_the_same_name_do_not_clash():
    """As those of TensorFlow in the same process, in either order."""
    run_python(
        "-c",
        """
from google.protobuf import descriptor_pb2, descriptor_pool
from replax.io import serialize_example
before = serialize_example({"x": 1})
for package in ("tensorflow", "replax"):
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package}/example.proto", package=package
    )
    file.message_type.add(name="Example")
    descriptor_pool.Default().Add(file)
    descriptor_pool.Default().FindMessageTypeByName(f"{package}.Example")
from replax._src.dataset.examples import message
message.message_class.cache_clear()
message._pool.cache_clear()
assert serialize_example({"x": 1}) == before
""",
    )
