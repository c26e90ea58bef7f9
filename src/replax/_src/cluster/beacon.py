"""What a process is doing, for its watchdog to see."""

from __future__ import annotations

__all__ = [
    "CHECKPOINT",
    "COMPILATION",
    "EVALUATION",
    "INPUT",
    "PROGRAM",
    "STEP",
    "Beacon",
]

INPUT = "input"
STEP = "step"
CHECKPOINT = "checkpoint"
EVALUATION = "evaluation"
# What the program does by itself, between these.
PROGRAM = "program"
# XLA compiles; the watchdog sees it, whatever the phase is.
COMPILATION = "compilation"


class Beacon:
    """Where a process is. To change it is one assignment; a watchdog looks at it.

    Attributes:
      now: The phase and the step, a new tuple for each change.
      steps: How many steps have begun, which is the number of the next one.
    """

    __slots__ = ("now", "steps")

    def __init__(self) -> None:
        self.steps = 0
        self.now = (PROGRAM, 0)

    def enter(self, phase: str) -> None:
        """The process is at ``phase`` now."""
        self.now = (phase, self.steps)

    def begin_step(self) -> None:
        """The process is in its next step now."""
        self.now = (STEP, self.steps)
        self.steps += 1
