"""``replax explain``: who reads what of a dataset, before there is a program."""

from __future__ import annotations

import click

from replax._src.core.errors import ReplaxError
from replax._src.dataset.dataset import Dataset
from replax._src.dataset.options import AutoShardPolicy
from replax._src.dataset.readers import TFRecordDataset
from replax._src.dataset.sources.names import file_names
from replax._src.input.explain import explained

__all__ = ["explain"]

_POLICIES = click.Choice([p.name.lower() for p in AutoShardPolicy if p.name != "HINT"])


@click.command()
@click.argument("files", nargs=-1)
@click.option("--rows", type=click.IntRange(0), help="How many rows there are.")
@click.option(
    "--batch",
    type=click.IntRange(1),
    required=True,
    help="How many rows all replicas get together at a step.",
)
@click.option("--drop-remainder", is_flag=True, help="Leave out a last, smaller batch.")
@click.option(
    "--epochs",
    type=click.IntRange(1),
    default=1,
    help="How often the rows are gone through.",
)
@click.option(
    "--replicas",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many replicas all workers have together.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many processes there are.",
)
@click.option(
    "--policy",
    type=_POLICIES,
    default="auto",
    show_default=True,
    help="How workers share the data.",
)
def explain(  # noqa: PLR0913, PLR0917  # click passes each option by its name
    files: tuple[str, ...],
    rows: int | None,
    batch: int,
    drop_remainder: bool,  # noqa: FBT001  # by its name, as said above
    epochs: int,
    replicas: int,
    workers: int,
    policy: str,
) -> None:
    r"""Shows who reads what, and what each replica gets at each step.

    Give FILES, which may be patterns, or a number of --rows that lie in memory. Nothing
    is read.

    \b
    replax explain --rows 1000 --batch 64 --replicas 4 --workers 2
    replax explain 'data/*.tfrecord' --batch 256 --replicas 16 --workers 4
    """
    if bool(files) == (rows is not None):
        msg = "give files, or --rows, the number of rows in memory; one of the two"
        raise click.UsageError(msg)
    if replicas % workers:
        fitting = -(-replicas // workers) * workers
        msg = (
            f"{replicas} replicas cannot be {workers} workers with equally many; give "
            f"a multiple of {workers}, for example --replicas {fitting}"
        )
        raise click.UsageError(msg)
    chosen = AutoShardPolicy[policy.upper()]
    try:
        source = (
            TFRecordDataset(list(file_names(list(files))))
            if files
            else Dataset.range(rows or 0)
        )
        dataset = source.batch(batch, drop_remainder=drop_remainder)
        if epochs > 1:
            dataset = dataset.repeat(epochs)
        shown = explained(dataset.plan, chosen, [replicas // workers] * workers)
    except ReplaxError as error:
        raise click.ClickException(str(error)) from None
    click.echo(str(shown))
