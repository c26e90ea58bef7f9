"""The protobuf message ``tf.train.Example``."""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["example_class", "message_class"]

_PACKAGE = "replax"


def example_class() -> Any:
    """The class of the messages."""
    return message_class("Example")


@functools.cache
def message_class(name: str) -> Any:
    """The class of the messages, or of what they are made of, such as ``Feature``."""
    descriptor = _pool().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    from google.protobuf import message_factory  # noqa: PLC0415  # see _pool

    return message_factory.GetMessageClass(descriptor)


@functools.cache
def _pool() -> Any:
    """A pool with the descriptors of the messages.

    They are built here, and not in the default pool: a process that has TensorFlow
    in it too has TensorFlow's there, under the same names.
    """
    # Imported where the first message is needed, so that `import replax` is quick.
    from google.protobuf import descriptor_pb2, descriptor_pool  # noqa: PLC0415

    file = descriptor_pb2.FileDescriptorProto(
        name="replax/example.proto", package=_PACKAGE, syntax="proto3"
    )
    field = descriptor_pb2.FieldDescriptorProto
    for name, type_ in (
        ("BytesList", field.TYPE_BYTES),
        ("FloatList", field.TYPE_FLOAT),
        ("Int64List", field.TYPE_INT64),
    ):
        values = file.message_type.add(name=name)
        values.field.add(name="value", number=1, type=type_, label=field.LABEL_REPEATED)

    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, kind in enumerate(("Bytes", "Float", "Int64"), start=1):
        feature.field.add(
            name=f"{kind.lower()}_list",
            number=number,
            type=field.TYPE_MESSAGE,
            type_name=f".{_PACKAGE}.{kind}List",
            label=field.LABEL_OPTIONAL,
            oneof_index=0,
        )

    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    entry.field.add(
        name="key", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL
    )
    entry.field.add(
        name="value",
        number=2,
        type=field.TYPE_MESSAGE,
        type_name=f".{_PACKAGE}.Feature",
        label=field.LABEL_OPTIONAL,
    )
    features.field.add(
        name="feature",
        number=1,
        type=field.TYPE_MESSAGE,
        type_name=f".{_PACKAGE}.Features.FeatureEntry",
        label=field.LABEL_REPEATED,
    )

    example = file.message_type.add(name="Example")
    example.field.add(
        name="features",
        number=1,
        type=field.TYPE_MESSAGE,
        type_name=f".{_PACKAGE}.Features",
        label=field.LABEL_OPTIONAL,
    )

    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool
