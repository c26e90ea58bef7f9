"""``tf.train.Example`` and what it is made of: protobuf's messages."""

from __future__ import annotations

from typing import Any

from replax._src.dataset.examples.message import message_class

__all__ = ["BytesList", "Example", "Feature", "Features", "FloatList", "Int64List"]

BytesList: Any = message_class("BytesList")
Example: Any = message_class("Example")
Feature: Any = message_class("Feature")
Features: Any = message_class("Features")
FloatList: Any = message_class("FloatList")
Int64List: Any = message_class("Int64List")
