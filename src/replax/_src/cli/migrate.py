"""``replax migrate``: programs of TensorFlow import Replax instead."""

from __future__ import annotations

import difflib
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import click

from replax._src.cli.rewriting import rewritten

__all__ = ["migrate"]


@click.command()
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="FILE...",
    type=click.Path(exists=True, path_type=Path),
)
@click.option(
    "--diff",
    "only_shows",
    is_flag=True,
    help="Show what would change, and write nothing.",
)
@click.pass_context
def migrate(ctx: click.Context, paths: tuple[Path, ...], *, only_shows: bool) -> None:
    """Rewrite the imports of TensorFlow in FILEs, or in all files of folders.

    What has to be done by hand is listed with its line. The exit code is 0 if there is
    nothing of the kind, 1 if there is, and 2 if a file could not be read.
    """
    left = failed = 0
    for path in _files(paths):
        try:
            source, encoding = _read(path)
            result = rewritten(source)
        except (SyntaxError, UnicodeDecodeError) as error:
            click.echo(
                f"{path}: is left as it is, not being Python 3: {error}", err=True
            )
            failed += 1
            continue
        if only_shows:
            click.echo(_difference(path, source, result.source), nl=False)
        elif result.source != source:
            path.write_bytes(result.source.encode(encoding))
            click.echo(f"{path}: rewritten", err=True)
        for note in result.notes:
            click.echo(f"{path}:{note.line}: {note.text}")
        left += len(result.notes)
    ctx.exit(2 if failed else min(left, 1))


def _files(paths: tuple[Path, ...]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.py"))
        else:
            yield path


def _read(path: Path) -> tuple[str, str]:
    """The text with the ends of lines that it has, and its encoding."""
    raw = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    return raw.decode(encoding), encoding


def _difference(path: Path, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        str(path),
        str(path),
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
