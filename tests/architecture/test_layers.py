"""Imports go down, and files stay small enough to be read."""

from __future__ import annotations

import grimp

from fresh_process import ROOT, run_python

SOURCES = ROOT / "src" / "replax"
LONGEST_FILE = 600


def test_the_contracts_of_import_linter_hold() -> None:
    run_python(
        "-c",
        "import sys; from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(no_cache=True))",
    )


def test_nothing_below_imports_a_public_name() -> None:
    graph = grimp.build_graph("replax", cache_dir=None)
    up = [
        f"{importer} imports {imported}"
        for importer in graph.find_descendants("replax._src")
        for imported in graph.find_modules_directly_imported_by(importer)
        if not imported.startswith("replax._src")
    ]
    assert not up, "the public modules are for users; import from replax._src:\n" + (
        "\n".join(up)
    )


def test_unit_tests_lie_like_the_sources() -> None:
    folders = {p.parent for p in (ROOT / "tests" / "unit").rglob("test_*.py")}
    for folder in folders:
        package = SOURCES / "_src" / folder.relative_to(ROOT / "tests" / "unit")
        assert package.is_dir(), f"{folder} mirrors no package of replax._src"


def test_no_file_is_long() -> None:
    for path in SOURCES.rglob("*.py"):
        lines = len(path.read_text().splitlines())
        assert lines <= LONGEST_FILE, f"{path} has {lines} lines; which noun can leave?"
