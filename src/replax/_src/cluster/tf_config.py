"""The environment variable TF_CONFIG: a cluster and a task in JSON."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Mapping
from typing import Any, cast

from replax._src.cluster.resolver import ClusterResolver, address_of_master
from replax._src.cluster.spec import ClusterSpec

__all__ = ["TFConfigClusterResolver", "read_tf_config"]

VARIABLE = "TF_CONFIG"

_EXAMPLE = (
    '{"cluster": {"worker": ["host0:2222", "host1:2222"]}, '
    '"task": {"type": "worker", "index": 0}}'
)


@dataclasses.dataclass(frozen=True)
class TFConfig:
    """What TF_CONFIG says; None for what it does not."""

    cluster: Mapping[str, Mapping[int, str]]
    task_type: str | None
    task_id: int | None
    rpc_layer: str | None
    session_master: str | None


@functools.lru_cache(maxsize=8)
def read_tf_config(text: str) -> TFConfig:
    """Reads the text of TF_CONFIG.

    Raises:
      ValueError: It is not what TF_CONFIG has to be.
      TypeError: It has values of other kinds.
    """
    if not text.strip():
        return TFConfig({}, None, None, None, None)
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        around = text[max(0, error.pos - 15) : error.pos + 15]
        msg = (
            f"{VARIABLE} is not JSON near {around!r}: {error.msg}; it has to look like "
            f"{_EXAMPLE}"
        )
        raise json.JSONDecodeError(msg, text, error.pos) from None
    config = _object(config, "")
    task = _object(config.get("task", {}), "task")
    index = task.get("index")
    return TFConfig(
        _cluster(config.get("cluster", {})),
        _string(task.get("type"), "task.type"),
        None if index is None else _index(index, "task.index"),
        _string(config.get("rpc_layer"), "rpc_layer"),
        _string(config.get("session_master"), "session_master"),
    )


def _cluster(cluster: object) -> Mapping[str, Mapping[int, str]]:
    return {
        job: _tasks(tasks, f"cluster.{job}")
        for job, tasks in _object(cluster, "cluster").items()
    }


def _tasks(tasks: object, place: str) -> dict[int, str]:
    if isinstance(tasks, list):
        given = dict(enumerate(cast("list[object]", tasks)))
    elif isinstance(tasks, dict):
        of_json = cast("dict[str, object]", tasks)
        given = {_index(key, f"a key of {place}"): a for key, a in of_json.items()}
    else:
        raise TypeError(_wrong(tasks, place, 'list of addresses, as ["host:2222"]'))
    return {
        i: _string(address, f"{place}[{i}]", needed=True) or ""
        for i, address in given.items()
    }


def _object(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(_wrong(value, place, f"JSON object, as in {_EXAMPLE}"))
    return cast("dict[str, Any]", value)


def _string(value: object, place: str, *, needed: bool = False) -> str | None:
    if isinstance(value, str) or (value is None and not needed):
        return value
    raise TypeError(_wrong(value, place, "string"))


def _index(value: object, place: str) -> int:
    """A whole number, also as a string, as many launchers write it."""
    number = -1
    if isinstance(value, str) and value.strip().isdecimal():
        number = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    if number < 0:
        raise ValueError(_wrong(value, place, "whole number, counted from 0"))
    return number


def _wrong(value: object, place: str, needed: str) -> str:
    return (
        f"{VARIABLE}: {place or 'it'} is {json.dumps(value)}, and has to be a {needed}"
    )


class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment variable TF_CONFIG describes.

    The variable is read whenever the resolver is asked. Without it there is no cluster.

    Args:
      task_type: The job of this process, if it is not the one in TF_CONFIG.
      task_id: Its index in that job, if it is not the one in TF_CONFIG.
      rpc_layer: The protocol that ``master`` puts before addresses.
      environment: What ``environment`` gives.
      environ: The variables to read; those of this process if left out.

    >>> import json
    >>> from replax.distribute.cluster_resolver import TFConfigClusterResolver
    >>> config = {
    ...     "cluster": {"worker": ["one:2222", "two:2222"]},
    ...     "task": {"type": "worker", "index": 1},
    ... }
    >>> resolver = TFConfigClusterResolver(environ={"TF_CONFIG": json.dumps(config)})
    >>> resolver.task_type, resolver.task_id
    ('worker', 1)
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._environment = environment

    def cluster_spec(self) -> ClusterSpec:
        """The cluster of TF_CONFIG."""
        return ClusterSpec(self._now().cluster)

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task, this one unless said; empty if it is the only one."""
        session_master = self._now().session_master
        if session_master is not None:
            return session_master
        spec = self.cluster_spec()
        if sum(map(spec.num_tasks, spec.jobs)) <= 1:
            return ""
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        if job is None or index is None:
            msg = (
                f"{VARIABLE} does not say which task this process is, so master() has "
                f'no address to give; add "task" to it, or name a task: '
                f'master("worker", 0)'
            )
            raise ValueError(msg)
        return address_of_master(
            spec.task_address(job, index),
            self.rpc_layer if rpc_layer is None else rpc_layer,
        )

    def _source(self) -> str:
        return VARIABLE

    def _now(self) -> TFConfig:
        return read_tf_config(self._environ.get(VARIABLE, ""))

    @property
    def task_type(self) -> str | None:
        """The job of this process; None if TF_CONFIG does not say it."""
        return self._now().task_type if self._task_type is None else self._task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The index of this process in its job; None if TF_CONFIG does not say it."""
        return self._now().task_id if self._task_id is None else int(self._task_id)

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def environment(self) -> str | None:
        """What was given."""
        return self._environment

    @property
    def rpc_layer(self) -> str | None:
        """The protocol that ``master`` puts before addresses."""
        return self._now().rpc_layer if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer
