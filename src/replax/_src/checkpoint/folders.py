"""Where checkpoints are, and which one is meant."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path as FilePath

from replax._src.core.errors import (
    DataLossError,
    InvalidArgumentError,
    NotFoundError,
)

__all__ = ["checked", "existing", "latest_checkpoint", "replaceable"]

_BESIDE = re.compile(r"\.(unfinished|replaced)-[0-9a-f]{8}(\.|$)")


def latest_checkpoint(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> str | None:
    """The path of the checkpoint in a folder that was written last.

    Args:
      checkpoint_dir: The folder.
      latest_filename: Accepted: checkpoints say themselves when they were written, so
        there is no file of which one is the latest.

    Returns:
      What ``restore`` takes; None if there is no complete checkpoint.

    >>> import tempfile
    >>> import replax
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = replax.train.Checkpoint(step=7)
    ...     path = checkpoint.save(f"{folder}/ck")
    ...     path == replax.train.latest_checkpoint(folder)
    True
    """
    del latest_filename
    folder = checked(checkpoint_dir)
    if not folder.is_dir():
        return None
    from replax._src.checkpoint import storage  # noqa: PLC0415  # orbax, when needed

    written: list[tuple[int, str]] = []
    for found in _checkpoints(folder):
        try:
            written.append((storage.read_manifest(found)["written"], found.name))
        except DataLossError:
            continue  # another program's
    if not written:
        return None
    # It begins as the folder was given: a relative path stays one, with its "./".
    return os.path.join(checkpoint_dir, max(written)[1])  # noqa: PTH118


def checked(path: str | os.PathLike[str]) -> FilePath:
    """The path on this machine, from the root."""
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        msg = f"the path of a checkpoint is {path!r}; give a text such as '/tmp/ck'"
        raise InvalidArgumentError(msg)
    if "://" in text:
        msg = (
            f"the path of a checkpoint is {text!r}, and checkpoints are written to "
            f"file systems; give a folder, such as the place where it is mounted"
        )
        raise InvalidArgumentError(msg)
    return FilePath(text).absolute()


def replaceable(path: str | os.PathLike[str]) -> FilePath:
    """The folder to write to: there is nothing there, or an older checkpoint."""
    folder = checked(path)
    if folder.exists() and not _is_checkpoint(folder):
        msg = (
            f"the checkpoint is to be written to {str(folder)!r}, where there is "
            f"something else already; give a path of its own: "
            f"{str(folder / 'ck')!r}"
        )
        raise InvalidArgumentError(msg)
    return folder


def existing(path: str | os.PathLike[str]) -> FilePath:
    """The folder of the checkpoint that a path names."""
    folder = checked(path)
    if _is_checkpoint(folder):
        return folder
    if folder.is_dir():
        inside = _named(_checkpoints(folder))
        msg = f"{str(folder)!r} is a folder and no checkpoint; " + (
            f"there are checkpoints in it: {inside}; give one of them, or "
            f"replax.train.latest_checkpoint({str(folder)!r})"
            if inside
            else "give the path that save returned"
        )
        raise NotFoundError(msg)
    above = folder.parent
    near = _checkpoints(above) if above.is_dir() else []
    names = [found.name for found in near]
    close = difflib.get_close_matches(folder.name, names, n=3, cutoff=0.0)
    if not above.is_dir():
        there = f"the folder {str(above)!r} is not there either"
    elif not near:
        there = f"there are no checkpoints in {str(above)!r}"
    else:
        there = f"nearest to it are {_named([above / name for name in close])}"
    msg = (
        f"there is no checkpoint {str(folder)!r}; {there}; give the path that save "
        f"returned, which has the number of the save at its end"
    )
    raise NotFoundError(msg)


def _checkpoints(folder: FilePath) -> list[FilePath]:
    return sorted(found for found in folder.iterdir() if _is_checkpoint(found))


def _is_checkpoint(folder: FilePath) -> bool:
    return (folder / "manifest").is_dir() and not _BESIDE.search(folder.name)


def _named(folders: list[FilePath]) -> str:
    return ", ".join(repr(str(folder)) for folder in folders[:3])
