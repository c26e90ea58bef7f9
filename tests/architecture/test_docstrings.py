"""Every public name is described, by an example that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fresh_process import ROOT, run_python

if TYPE_CHECKING:
    from architecture.surface import Entry

LAYERS = sorted(
    path.parent.name for path in (ROOT / "src/replax/_src").glob("*/__init__.py")
)

# Public names that an example would not explain, each with the reason.
WITHOUT_EXAMPLE: dict[str, str] = {}


def test_every_public_name_has_a_docstring(surface: list[Entry]) -> None:
    described = {"module", "class", "function", "member"}
    wanted = [e for e in surface if e.ours and e.kind in described]
    assert not [e.name for e in wanted if not e.documented]


def test_every_public_class_and_function_has_an_example(surface: list[Entry]) -> None:
    wanted = [e for e in surface if e.ours and e.kind in {"class", "function"}]
    missing = [e.name for e in wanted if not e.example]
    assert sorted(missing) == sorted(WITHOUT_EXAMPLE)


@pytest.mark.parametrize("layer", LAYERS)
def test_the_examples_run(layer: str) -> None:
    """In a process for each layer: the facades change the configuration of JAX."""
    run_python("-m", "architecture.docstring_examples", f"replax._src.{layer}")
