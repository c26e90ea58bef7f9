"""What a restore says of itself."""

from __future__ import annotations

from typing import Any, Self

from replax._src.checkpoint.restoring import Restoration
from replax._src.checkpoint.saved import Path, dotted

__all__ = ["RestoreStatus"]


class RestoreStatus:
    """What ``restore`` returns: whether everything found its place.

    >>> import tempfile
    >>> import replax
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = replax.train.Checkpoint(step=7).save(f"{folder}/ck")
    ...     status = replax.train.Checkpoint(step=0).restore(path)
    >>> isinstance(status.assert_consumed(), replax.train.RestoreStatus)
    True
    """

    def __init__(self, root: Any, restoration: Restoration | None) -> None:
        self._root = root
        self._restoration = restoration

    def assert_consumed(self) -> Self:
        """Checks that program and checkpoint have the same values.

        What has appeared in objects, dicts and lists since the restore gets its value
        before.

        Raises:
          AssertionError: The checkpoint has a value that the program has no place
            for, or the other way round.
        """
        restoration = self._looked_again()
        left = restoration.not_given()
        if left:
            msg = (
                f"{restoration.source} has values that nothing in the program takes: "
                f"{_listed(left)}; give the checkpoint objects with these names, or "
                f"say that this is expected with expect_partial()"
            )
            raise AssertionError(msg)
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> Self:
        """Checks that everything the program has was in the checkpoint.

        Raises:
          AssertionError: There is a variable or value that the checkpoint does not
            have.
        """
        restoration = self._looked_again()
        lacking = restoration.lacking()
        if lacking:
            msg = (
                f"{restoration.source} has no values for {_listed(lacking)}; they are "
                f"what they were before. Restore a checkpoint that was saved with "
                f"them, or say that this is expected with expect_partial()"
            )
            raise AssertionError(msg)
        return self

    def assert_nontrivial_match(self) -> Self:
        """Checks that anything was restored at all.

        Raises:
          AssertionError: No name of the checkpoint is in the program.
        """
        restoration = self._looked_again()
        if not restoration.has_given():
            msg = (
                f"nothing in the program has a name that {restoration.source} has: "
                f"{_listed(restoration.not_given())}; give the objects these names: "
                f"Checkpoint(name=object)"
            )
            raise AssertionError(msg)
        return self

    def expect_partial(self) -> Self:
        """Says that program and checkpoint need not have the same values."""
        return self

    def _looked_again(self) -> Restoration:
        if self._restoration is None:
            msg = (
                "restore was given None for a path, as latest_checkpoint returns where "
                "there is no checkpoint, so nothing has been restored; look for None "
                "before asserting"
            )
            raise AssertionError(msg)
        self._restoration.give_late(self._root)
        return self._restoration


def _listed(paths: list[Path]) -> str:
    names = [dotted(path) for path in paths[:8]]
    more = f" and {len(paths) - 8} more" if len(paths) > 8 else ""
    return ", ".join(names) + more
