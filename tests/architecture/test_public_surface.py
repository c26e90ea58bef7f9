"""The public names are those of public_surface.txt, to people and to tools alike.

After a wanted change write the file anew and read the difference::

    REPLAX_WRITE_SURFACE=1 make test ARGS=tests/architecture/test_public_surface.py
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fresh_process import ROOT, run_python

if TYPE_CHECKING:
    from architecture.surface import Entry

SNAPSHOT = Path(__file__).with_name("public_surface.txt")
SOURCES = ROOT / "src" / "replax"


def _public_sources() -> list[Path]:
    return [
        path
        for path in sorted(SOURCES.rglob("*.py"))
        if not any(
            part.startswith("_") and part != "__init__.py"
            for part in path.relative_to(SOURCES).parts
        )
    ]


PUBLIC = [
    pytest.param(p, id=str(p.relative_to(SOURCES).with_suffix("")))
    for p in _public_sources()
]


def test_the_surface_is_the_snapshot(surface: list[Entry]) -> None:
    lines = [f"{entry}\n" for entry in surface]
    if "REPLAX_WRITE_SURFACE" in os.environ:
        SNAPSHOT.write_text("".join(lines))
    kept = SNAPSHOT.read_text().splitlines(keepends=True)
    changes = list(difflib.unified_diff(kept, lines, "public_surface.txt", "now", n=0))
    assert not changes, (
        "the public surface has changed; if that is wanted, set REPLAX_WRITE_SURFACE=1 "
        "and run this test again:\n" + "".join(changes)
    )


@pytest.mark.parametrize("path", PUBLIC)
def test_a_public_module_only_imports(path: Path) -> None:
    """So that an implementation can move, and a tool sees every name."""
    for node in ast.parse(path.read_text()).body:
        assert (
            isinstance(node, ast.Import | ast.ImportFrom)
            or _is_docstring(node)
            or _assigns_all(node)
            or _imports_for_tools(node)
            or _is_lazy_attribute(node)
        ), f"line {node.lineno} of {path} is code; it belongs below replax/_src"


@pytest.mark.parametrize("path", PUBLIC)
def test_the_names_in_all_are_bound_in_the_source(path: Path) -> None:
    tree = ast.parse(path.read_text())
    names = next((_names_in_all(n) for n in tree.body if _assigns_all(n)), None)
    assert names is not None, f"{path} has no __all__"
    assert len(names) == len(set(names))
    bound = {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert set(names) <= bound


def test_the_names_at_run_time_are_those_of_all() -> None:
    modules = [_module_name(path) for path in _public_sources()]
    printed = run_python("-c", _PRINT_EXTRA_NAMES, *modules)
    assert not printed, f"public at run time, but not in __all__:\n{printed}"


_PRINT_EXTRA_NAMES = """
import importlib, sys, types
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for attribute, value in vars(module).items():
        of_the_tree = isinstance(value, types.ModuleType) and (
            value.__name__ == f"{name}.{attribute}"
        )
        known = attribute in module.__all__ or attribute.startswith("_")
        for_tools = attribute in ("annotations", "TYPE_CHECKING")
        if not known and not of_the_tree and not for_tools:
            print(f"{name}.{attribute}")
    for attribute in module.__all__:
        getattr(module, attribute)
"""


def test_the_marker_of_typed_packages_is_there() -> None:
    assert (SOURCES / "py.typed").exists()
    assert importlib.util.find_spec("replax") is not None


def _module_name(path: Path) -> str:
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _assigns_all(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _names_in_all(node: ast.stmt) -> list[str]:
    assert isinstance(node, ast.Assign)
    return ast.literal_eval(node.value)


def _imports_for_tools(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _is_lazy_attribute(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in {"__getattr__", "__dir__"}
