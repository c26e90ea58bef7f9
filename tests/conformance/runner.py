"""Runs cases in a forking server of this process's own."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Self

from conformance import worker
from conformance.case_file import same

if TYPE_CHECKING:
    from conformance.case_file import Case

# The server keeps a case's time; this much later the server itself is stuck.
SLACK = 30
SECONDS_TO_IMPORT = 120
LONGEST_ANSWER = 2000


class ConformanceError(AssertionError):
    """A case that could not be run, or an answer that is not the expected one."""


class Runner:
    """A forking server under control: started when first needed, ended by its id."""

    def __init__(self, library: str = "replax") -> None:
        self._library = library
        self._server: subprocess.Popen[str] | None = None
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answer(self, case: Case) -> Any:
        """The case's value; a ConformanceError with its log if it has none."""
        fresh = self._server is None
        server = self._start()
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            print(case.path, file=server.stdin, flush=True)
        except BrokenPipeError:
            self._give_up("it ended while it imported the library")
        seconds = case.timeout + SLACK + (SECONDS_TO_IMPORT if fresh else 0)
        ready, _, _ = select.select([server.stdout], [], [], seconds)
        line = server.stdout.readline() if ready else ""
        if not line:
            self._give_up("it ended" if ready else f"no report in {seconds} s")
        report = json.loads(line)
        if "problem" in report:
            msg = f"{case.name}: {report['problem']}\n{report['log']}"
            raise ConformanceError(msg)
        return report["value"]

    def check(self, case: Case) -> None:
        """Raises unless the case gives the expected answer."""
        got, want = self.answer(case), case.expected()
        if not same(got, want):
            msg = f"{case.name}: got {_brief(got)}, expected {_brief(want)}"
            raise ConformanceError(msg)

    def close(self) -> None:
        """Ends the server."""
        self._stop()
        self._errors.close()

    def _start(self) -> subprocess.Popen[str]:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "conformance.forking_server", self._library],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                env=worker.prepare_environment(dict(os.environ)),
                start_new_session=True,
            )
        return self._server

    def _stop(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        assert server.stdin is not None
        assert server.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            server.stdin.close()
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            server.terminate()
            try:
                server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        server.stdout.close()

    def _give_up(self, why: str) -> None:
        self._stop()
        self._errors.seek(0)
        printed = self._errors.read()[-LONGEST_ANSWER:]
        msg = f"the conformance server for {self._library} failed: {why}\n{printed}"
        raise ConformanceError(msg)


def _brief(value: Any) -> str:
    text = json.dumps(value)
    if len(text) <= LONGEST_ANSWER:
        return text
    return text[:LONGEST_ANSWER] + "..."
