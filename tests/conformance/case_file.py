"""The case files: where they are, what they ask for, and what is expected of them."""

from __future__ import annotations

import ast
import dataclasses
import json
import math
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASES = HERE / "cases"
EXPECTED = HERE / "expected"

SECONDS_ALONE = 60
SECONDS_TOGETHER = 120


@dataclasses.dataclass(frozen=True)
class Case:
    """One program and the machine it wants.

    A case file holds a docstring, ``case(tf)``, and constants that say on what it runs:
    ``REPLICAS`` logical CPUs in each of ``WORKERS`` processes, under the names of the
    facade ``API`` (``"v2"`` or ``"v1"``), within ``TIMEOUT`` seconds.
    """

    name: str
    path: Path
    replicas: int
    workers: int
    api: str
    timeout: float

    @property
    def area(self) -> str:
        """The part of the library that the case is about."""
        return self.name.split("/")[0]

    @property
    def expected_path(self) -> Path:
        """Where the expected answer is kept."""
        return EXPECTED / f"{self.name}.json"

    def expected(self) -> Any:
        """The answer that the case is to give."""
        return json.loads(self.expected_path.read_text())


def read_case(path: Path) -> Case:
    """Reads a case's constants without running it."""
    wants: dict[str, Any] = {"REPLICAS": 2, "WORKERS": 1, "API": "v2", "TIMEOUT": None}
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=constant)]) if constant in wants:
                wants[constant] = ast.literal_eval(node.value)
    seconds = SECONDS_ALONE if wants["WORKERS"] == 1 else SECONDS_TOGETHER
    return Case(
        name=f"{path.parent.name}/{path.stem}",
        path=path,
        replicas=wants["REPLICAS"],
        workers=wants["WORKERS"],
        api=wants["API"],
        timeout=wants["TIMEOUT"] or seconds,
    )


def all_cases() -> list[Case]:
    """Every case there is, by name."""
    return [read_case(path) for path in sorted(CASES.glob("*/*.py"))]


def plain(value: Any) -> Any:
    """What JSON can hold: numbers, strings, lists, dicts with string keys."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else repr(value)
        case bytes():
            return value.decode()
        case dict():
            return {
                k if isinstance(k, str) else json.dumps(plain(k)): plain(v)
                for k, v in value.items()
            }
        case list() | tuple():
            return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    msg = f"a case answered with {type(value)!r}, which JSON cannot hold; pull() it"
    raise TypeError(msg)


def same(a: Any, b: Any, tolerance: float = 1e-5) -> bool:
    """Whether two plain answers agree; numbers may differ by rounding."""
    match a, b:
        case (bool(), _) | (_, bool()):
            return a is b
        case int() | float(), int() | float():
            return a == b or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
        case dict(), dict():
            return a.keys() == b.keys() and all(same(a[k], b[k], tolerance) for k in a)
        case list(), list():
            return len(a) == len(b) and all(
                same(x, y, tolerance) for x, y in zip(a, b, strict=True)
            )
    return type(a) is type(b) and a == b
