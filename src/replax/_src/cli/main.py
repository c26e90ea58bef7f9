"""``replax``: commands, each in a module of its own that is imported when it is run."""

from __future__ import annotations

import importlib

import click

__all__ = ["main"]

# Each module has a click command of the same name.
_COMMANDS: dict[str, str] = {
    "doctor": "replax._src.cli.doctor",
    "explain": "replax._src.cli.explain",
    "migrate": "replax._src.cli.migrate",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        return getattr(importlib.import_module(_COMMANDS[cmd_name]), cmd_name)


@click.command(cls=_Commands)
def main() -> None:
    """Write a training step once, and run it on one device or on many."""
