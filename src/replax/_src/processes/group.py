"""A process that leads a group: what it starts ends with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

__all__ = ["GroupLeader"]


class GroupLeader:
    """A process in a group and a session of its own.

    It gets the descriptor of a pipe that is closed when this process is no more, as its
    last argument (see lifeline.py). It does not get the terminal's signals, such as
    Ctrl-C; whoever starts it has to end it.

    Args:
      line: The command line, but for its last argument.
      environment: All variables of its environment.
      output: Where everything goes that it prints, in the order in which it does.
      descriptors: What it inherits besides.
    """

    def __init__(
        self,
        line: Sequence[str],
        environment: Mapping[str, str],
        output: IO[bytes],
        descriptors: Sequence[int] = (),
    ) -> None:
        lifeline, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603  # it is our own program
                [*line, str(lifeline)],
                env=environment,
                pass_fds=(*descriptors, lifeline),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(lifeline)

    @property
    def pid(self) -> int:
        """The id of the process, and of its group."""
        return self._process.pid

    def ended(self) -> int | None:
        """The exit code, negative for a signal; None if it still runs.

        When it has ended, what it has left running is killed.
        """
        if self._process.returncode is None and self._process.poll() is not None:
            self.signal(signal.SIGKILL)
            os.close(self._lifeline)
        return self._process.returncode

    def signal(self, number: int) -> None:
        """Sends a signal to the whole group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """Ends the group and waits for that."""
        if self.ended() is None:
            self.signal(signal.SIGKILL)
            self._process.wait()
            os.close(self._lifeline)
