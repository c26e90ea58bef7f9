"""The protobuf message ``tf.train.Example``."""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["example_class"]

_PACKAGE = "replax"


@functools.cache
def example_class() -> Any:
    """The class of the messages.

    Its descriptor is built here, in a pool of its own: a process that has TensorFlow
    in it too has TensorFlow's in the default pool, under the same name.
    """
    # Imported where the first message is needed, so that `import replax` is quick.
    from google.protobuf import (  # noqa: PLC0415
        descriptor_pb2,
        descriptor_pool,
        message_factory,
    )

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
    descriptor = pool.FindMessageTypeByName(f"{_PACKAGE}.Example")
    return message_factory.GetMessageClass(descriptor)
