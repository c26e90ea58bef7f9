"""Checkpoints on disk, written and read by Orbax.

A checkpoint is a folder with two items: ``arrays``, a tree of arrays that every program
with Orbax can read, and ``manifest``, which says what they are and has the numbers and
texts. It is written beside its place and moved there when it is complete.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import quote

import jax
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from replax._src.checkpoint.saved import Leaf, Path
from replax._src.core.errors import DataLossError

__all__ = ["read", "read_manifest", "write"]

_FORMAT = 1


def write(
    folder: FilePath, leaves: Mapping[Path, Leaf], same: Mapping[Path, Path]
) -> None:
    """Writes a checkpoint, in full or not at all.

    Args:
      folder: Where; a checkpoint that is there already is replaced.
      leaves: The values, by their paths.
      same: Further paths of values that are in ``leaves``.
    """
    arrays: dict[str, Any] = {}
    for path, leaf in leaves.items():
        if isinstance(leaf.value, np.ndarray) and leaf.value.size:
            _insert(arrays, path, _writable(leaf.value))
    manifest = {
        "format": _FORMAT,
        "written": time.time_ns(),
        "values": [_described(path, leaf) for path, leaf in leaves.items()],
        "same": [[list(path), list(first)] for path, first in same.items()],
    }
    items: dict[str, Any] = {"manifest": ocp.args.JsonSave(manifest)}
    if arrays:
        items["arrays"] = ocp.args.PyTreeSave(arrays)
    folder.parent.mkdir(parents=True, exist_ok=True)
    mark = secrets.token_hex(4)
    beside = folder.with_name(f"{folder.name}.unfinished-{mark}")
    try:
        _checkpointer().save(beside, args=ocp.args.Composite(**items))
        _move(beside, folder, mark)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _move(beside: FilePath, folder: FilePath, mark: str) -> None:
    """Puts a complete folder in the place of one that may be there."""
    old = folder.with_name(f"{folder.name}.replaced-{mark}")
    for _ in range(10):
        with contextlib.suppress(FileNotFoundError):
            folder.rename(old)
            shutil.rmtree(old)
        # Another worker may have put its own there in between.
        with contextlib.suppress(OSError):
            beside.rename(folder)
            return
    beside.rename(folder)


def read(folder: FilePath) -> dict[Path, Leaf]:
    """The values of a checkpoint, by their paths, all on the host."""
    manifest = read_manifest(folder)
    described: list[dict[str, Any]] = manifest["values"]
    wanted: dict[str, Any] = {}
    for entry in described:
        if "python" not in entry and 0 not in entry["shape"]:
            _insert(wanted, entry["path"], ocp.RestoreArgs(restore_type=np.ndarray))
    arrays: dict[str, Any] = {}
    if wanted:
        what = ocp.args.PyTreeRestore(restore_args=wanted)
        try:
            found = _checkpointer().restore(
                folder, args=ocp.args.Composite(arrays=what)
            )
        except (ValueError, OSError, KeyError) as error:
            msg = (
                f"checkpoint {str(folder)!r} is damaged: its arrays cannot be read "
                f"({error}); restore from another one"
            )
            raise DataLossError(msg, path=str(folder)) from error
        arrays = found["arrays"]
    leaves = {tuple(e["path"]): _leaf(e, arrays) for e in described}
    for path, first in manifest["same"]:
        leaves[tuple(path)] = leaves[tuple(first)]
    return leaves


def read_manifest(folder: FilePath) -> dict[str, Any]:
    """What a checkpoint says of itself; a DataLossError if it is none of ours."""
    try:
        found = _checkpointer().restore(
            folder, args=ocp.args.Composite(manifest=ocp.args.JsonRestore())
        )
        manifest: dict[str, Any] = found["manifest"]
        version = manifest["format"]
    except (ValueError, OSError, KeyError, TypeError) as error:
        msg = (
            f"{str(folder)!r} cannot be read as a checkpoint of Replax ({error}); "
            f"restore from another one, or read it with the library that wrote it"
        )
        raise DataLossError(msg, path=str(folder)) from error
    if version > _FORMAT:
        msg = (
            f"checkpoint {str(folder)!r} has format {version}, and this version of "
            f"Replax reads up to {_FORMAT}; install the version that wrote it"
        )
        raise DataLossError(msg, path=str(folder))
    return manifest


def _described(path: Path, leaf: Leaf) -> dict[str, Any]:
    value = leaf.value
    entry: dict[str, Any] = {"path": list(path), "of_variable": leaf.of_variable}
    if isinstance(value, np.ndarray):
        entry |= {"shape": list(value.shape), "dtype": value.dtype.name}
        return entry | ({"key": leaf.key_impl} if leaf.key_impl else {})
    kind = type(value).__name__
    if isinstance(value, complex):
        value = [value.real, value.imag]
    return entry | {"python": kind, "value": value}


def _leaf(entry: dict[str, Any], arrays: dict[str, Any]) -> Leaf:
    if "python" in entry:
        value = entry["value"]
        return Leaf(complex(*value) if entry["python"] == "complex" else value)
    if 0 in entry["shape"]:
        array = np.zeros(entry["shape"], jax.numpy.dtype(entry["dtype"]))
    else:
        array: Any = arrays
        for name in entry["path"]:
            array = array[_escaped(name)]
    return Leaf(array, entry.get("key"), entry["of_variable"])


def _insert(tree: dict[str, Any], path: Any, value: Any) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(_escaped(name), {})
    tree[_escaped(path[-1])] = value


def _escaped(name: str) -> str:
    """A name as a part of a key of Orbax, where "." and "/" separate parts."""
    return quote(name, safe="").replace(".", "%2E") or "%"


def _writable(array: np.ndarray) -> Any:
    """The array in the form in which Orbax writes it from this process alone.

    With several processes that is one that all of them seem to have, of which each
    writes its own copy; arrays of NumPy are written by process 0 only.
    """
    if jax.process_count() == 1:
        return array
    first = {device.process_index: device for device in reversed(jax.devices())}
    mesh = Mesh(np.array([first[i] for i in sorted(first)]), ("process",))
    return jax.make_array_from_single_device_arrays(
        array.shape,
        NamedSharding(mesh, PartitionSpec()),
        [jax.device_put(array, first[jax.process_index()])],
    )


def _checkpointer() -> Any:
    """What saves and restores without any other process: each has its own folders."""
    me = jax.process_index()
    alone = ocp.options.MultiprocessingOptions(
        primary_host=me, active_processes={me}, barrier_sync_key_prefix=f"replax{me}"
    )
    types = ocp.type_handlers.create_type_handler_registry(
        (np.ndarray, ocp.type_handlers.NumpyHandler(deepcopy_host_arrays=False)),
        (
            jax.Array,
            ocp.type_handlers.ArrayHandler(
                primary_host=None,
                replica_id=None,
                use_replica_parallel=False,
                enable_write_sharding_file=False,
            ),
        ),
    )
    return ocp.Checkpointer(
        ocp.CompositeCheckpointHandler(
            arrays=ocp.PyTreeCheckpointHandler(
                multiprocessing_options=alone, type_handler_registry=types
            ),
            manifest=ocp.JsonCheckpointHandler(multiprocessing_options=alone),
            composite_options=ocp.CompositeOptions(
                multiprocessing_options=alone,
                # Else a process writes as soon as any one of the group says that it has
                # made its folders: there is one signal for all.
                async_options=ocp.options.AsyncOptions(
                    create_directories_asynchronously=False
                ),
            ),
        ),
        multiprocessing_options=alone,
    )
