"""What ends a process when its parent is no more, however that came to its end.

The parent holds one end of a pipe into which nobody writes. Child processes load this
file without the package around it (see program.py).
"""

from __future__ import annotations

import os
import signal
import sys
import threading

__all__ = ["end_with_parent"]


def end_with_parent(lifeline: int, *, group: bool = False) -> None:
    """Ends this process when the parent closes its end of the pipe.

    Args:
      lifeline: The descriptor of this side's end.
      group: Ends the group of processes that this one leads.
    """
    # A process that this one starts is not to inherit it.
    os.set_inheritable(lifeline, False)  # noqa: FBT003  # it has no name
    if sys.platform == "linux":
        # The thread needs the interpreter, which native code may hold on to for ever.
        # Nobody catches SIGIO, so the system itself ends the process by it. (A
        # PR_SET_PDEATHSIG would come when the *thread* ends that started the process.)
        import fcntl  # noqa: PLC0415  # where it is used

        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp() if group else os.getpid())
        flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)

    def wait() -> None:
        os.read(lifeline, 1)
        if group:
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, name="replax-lifeline", daemon=True).start()
