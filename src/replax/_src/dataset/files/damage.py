"""What is said of a damaged file."""

from __future__ import annotations

from replax._src.core.errors import DataLossError

__all__ = ["data_loss"]


def data_loss(
    path: str, record: int, offset: int, reason: str, *, noun: str = "record"
) -> DataLossError:
    """The error of a damage.

    Args:
      path: The file.
      record: The number of the record that is damaged.
      offset: Where it begins in the uncompressed data.
      reason: What is wrong.
      noun: What the records of the format are called.
    """
    return DataLossError(
        f"{path} is damaged in {noun} {record}, which begins at byte {offset} of the "
        f"uncompressed data: {reason}; write or copy the file again, or skip what is "
        f"damaged with .ignore_errors()",
        path=path,
        record=record,
        offset=offset,
    )
