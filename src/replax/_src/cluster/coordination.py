"""What processes say to each other besides collectives: a few short texts.

It goes through JAX's coordination service, which process 0 runs. Nothing here waits
without a timeout, and a wait that times out says who was waited for.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator, Sequence
from typing import Any

from replax._src.core import jax_compat
from replax._src.core.errors import DeadlineExceededError, UnavailableError

__all__ = ["Coordination"]


@dataclasses.dataclass(frozen=True)
class Coordination:
    """The key-value store and the barriers of a group of processes.

    Attributes:
      rank: Which process this is.
      size: How many there are.
    """

    rank: int
    size: int
    _client: Any = dataclasses.field(repr=False, compare=False)

    @classmethod
    def of_process(cls) -> Coordination | None:
        """Of the group that this process has joined; None if it is by itself."""
        client = jax_compat.distributed_client()
        if client is None:
            return None
        return cls(*jax_compat.distributed_rank_and_size(), client)

    def put(self, key: str, text: str, *, again: bool = False) -> None:
        """Publishes a text under a key; ``again`` allows to replace an earlier one."""
        with _renamed(f"publishing {key}"):
            self._client.key_value_set(key, text, again)

    def get(self, key: str, timeout: float, whose: str) -> str:
        """The text under a key, waiting for it.

        Args:
          key: The key.
          timeout: How many seconds to wait.
          whose: Who is to publish it, for the error: ``"rank 1"``.
        """
        with _renamed(f"waited {timeout:g} s for {whose} to publish {key}"):
            return self._client.blocking_key_value_get(key, _milliseconds(timeout))

    def find(self, key: str) -> str | None:
        """The text under a key if there is one now."""
        try:
            return self._client.key_value_try_get(key)
        except Exception as error:
            if _status(error) == "NOT_FOUND":
                return None
            raise _as_ours(error, f"looking for {key}") from error

    def all_below(self, prefix: str) -> dict[str, str]:
        """The texts under the keys below ``prefix``, by the rest of their keys."""
        with _renamed(f"reading below {prefix}"):
            found: Sequence[tuple[str, str]] = self._client.key_value_dir_get(prefix)
        return {key.removeprefix(prefix).lstrip("/"): text for key, text in found}

    def delete(self, key: str) -> None:
        """Removes a key, and all keys below it."""
        with _renamed(f"deleting {key}"):
            self._client.key_value_delete(key)

    def barrier(self, name: str, timeout: float) -> None:
        """Waits until every process is here.

        Each name may be used once. After a timeout the error names the processes that
        did not come.

        Args:
          name: What is waited for, such as ``"checkpoint/12"``.
          timeout: How many seconds to wait.
        """
        arrived = f"replax/barrier/{name}/"
        self.put(f"{arrived}{self.rank}", "", again=True)
        try:
            self._client.wait_at_barrier(f"replax/{name}", _milliseconds(timeout))
        except Exception as error:
            if _status(error) != "DEADLINE_EXCEEDED":
                raise _as_ours(error, f"barrier {name!r}") from error
            here = {int(rank) for rank in self.all_below(arrived)}
            missing = ", ".join(str(i) for i in range(self.size) if i not in here)
            msg = (
                f"rank {self.rank} waited {timeout:g} s at barrier {name!r}, and rank "
                f"{missing or 'unknown'} did not come; look at what it is doing, or "
                f"wait longer"
            )
            raise DeadlineExceededError(msg) from error
        if self.rank == 0:
            self.delete(arrived)


@contextlib.contextmanager
def _renamed(what: str) -> Generator[None]:
    """Raises the service's errors as ours, with what was being done."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise _as_ours(error, what) from error


def _status(error: BaseException) -> str:
    """The code that the service's errors begin with, such as ``NOT_FOUND``."""
    return str(error).partition(":")[0]


def _as_ours(error: Exception, what: str) -> Exception:
    if _status(error) == "DEADLINE_EXCEEDED":
        return DeadlineExceededError(f"{what}, in vain")
    msg = f"{what}: {error}"
    return UnavailableError(msg)


def _milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1000))
