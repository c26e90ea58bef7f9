"""Programs of TensorFlow, rewritten to import Replax's facades.

Imports are rewritten. All else stays as it is, and what the facades do not have is
reported with its line.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator

from replax._src.compat.advice import advice_for

__all__ = ["Note", "Rewritten", "rewritten"]

_FACADES = {
    "tensorflow": "replax.compat.v2",
    "tensorflow.compat.v1": "replax.compat.v1",
    "tensorflow.compat.v2": "replax.compat.v2",
}
# In the facades, and only to say that they cannot be.
_REFUSING = frozenset({"disable_eager_execution", "disable_v2_behavior"})


@dataclasses.dataclass(frozen=True, order=True)
class Note:
    """Something that has to be done by hand.

    Attributes:
      line: Where, counted from 1.
      text: What, and what to write instead.
    """

    line: int
    text: str


@dataclasses.dataclass(frozen=True)
class Rewritten:
    """What became of a program.

    Attributes:
      source: Its text now.
      notes: What is left to do, by line.
    """

    source: str
    notes: tuple[Note, ...]


def rewritten(source: str) -> Rewritten:
    """Rewrites a program; a SyntaxError if it is none."""
    tree = ast.parse(source)
    rewriting = _Rewriting(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            rewriting.take_import(node)
        elif isinstance(node, ast.ImportFrom):
            rewriting.take_from(node)
    rewriting.look_at_names(tree)
    return rewriting.finished()


@dataclasses.dataclass(frozen=True)
class _Edit:
    """A statement and the statements that take its place.

    Where only the module of a ``from`` import changes, ``module`` is the new one, and
    the names keep their layout and their comments.
    """

    node: ast.stmt
    statements: tuple[str, ...] = ()
    module: tuple[str, str] | None = None

    @property
    def place(self) -> tuple[int, int]:
        return self.node.lineno, self.node.col_offset


class _Rewriting:
    def __init__(self, source: str) -> None:
        # Columns of syntax trees count the bytes of UTF-8.
        self._lines = source.encode().splitlines(keepends=True)
        self._edits: list[_Edit] = []
        # What each name of the program stands for: a facade, and a name within it.
        self._bound: dict[str, tuple[str, str]] = {}
        self.notes: list[Note] = []

    def take_import(self, node: ast.Import) -> None:
        statements: list[str] = []
        changed = False
        for alias in node.names:
            new = self._imported(alias, node.lineno)
            changed = changed or new is not None
            statements.append(new or f"import {ast.unparse(alias)}")
        if changed:
            self._edits.append(_Edit(node, tuple(statements)))

    def _imported(self, alias: ast.alias, line: int) -> str | None:
        name, bound = alias.name, alias.asname
        if not _is_tensorflow(name):
            self._look_at_other(name, line)
            if bound and name in _FACADES.values():
                self._bound[bound] = (name, "")
            return None
        keras = _keras_module(name)
        if keras is not None and bound:
            self._note_keras(line, keras)
            return f"import {keras} as {bound}"
        if name in _FACADES and (bound or name == "tensorflow"):
            bound = bound or name
            self._bound[bound] = (_FACADES[name], "")
            return f"import {_FACADES[name]} as {bound}"
        facade, inner = _split(name)
        if bound and _first_missing(facade, inner) is None:
            self._bound[bound] = (facade, inner)
            return f"import {_module(facade, inner)} as {bound}"
        if bound:
            self._note(line, name, advice_for(inner))
        else:
            self._note(line, name, "import it `as` a name, and use that")
        return None

    def take_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level:
            return
        if not _is_tensorflow(module):
            self._look_at_other(module, node.lineno)
            for alias in node.names:
                if f"{module}.{alias.name}" in _FACADES.values():
                    bound = alias.asname or alias.name
                    self._bound[bound] = (f"{module}.{alias.name}", "")
            return
        keras = _keras_module(module)
        if keras is not None:
            self._note_keras(node.lineno, keras)
            self._edits.append(_Edit(node, module=(module, keras)))
            return
        groups: dict[str, list[str]] = {}
        for alias in node.names:
            home, name = self._home(module, alias, node.lineno)
            groups.setdefault(home, []).append(name)
        if len(groups) == 1 and "" not in groups:
            home = next(iter(groups))
            if home != module:
                self._edits.append(_Edit(node, module=(module, home)))
        else:
            statements = [_from(home, names) for home, names in groups.items()]
            self._edits.append(_Edit(node, tuple(statements)))

    def _look_at_other(self, module: str, line: int) -> None:
        if module.partition(".")[0].startswith("tensorflow_"):
            self._note(line, module, "it needs TensorFlow itself")

    def _home(self, module: str, alias: ast.alias, line: int) -> tuple[str, str]:
        """From where a name is imported now, and as what."""
        text = ast.unparse(alias)
        whole = f"{module}.{alias.name}"
        bound = alias.asname or alias.name
        if _keras_module(whole) is not None:
            self._note_keras(line, "keras")
            return "", f"keras as {bound}" if bound != "keras" else "keras"
        if whole in _FACADES:
            self._bound[bound] = (_FACADES[whole], "")
            return "replax.compat", text
        facade, inner = _split(module)
        home = _module(facade, inner)
        if alias.name == "*":
            self._note(
                line, f"{module}.*", "import names, so that they can be looked up"
            )
            return home, text
        name = f"{inner}.{alias.name}".lstrip(".")
        if _first_missing(facade, name) is not None:
            self._note(line, whole, advice_for(name))
            return module, text
        self._bound[bound] = (facade, name)
        return home, text

    def look_at_names(self, tree: ast.AST) -> None:
        """Notes each use of a name that a facade does not have."""
        for root, attributes, line in _dotted_names(tree):
            if root not in self._bound:
                continue
            facade, within = self._bound[root]
            parts = [p for p in within.split(".") if p] + attributes
            missing = _first_missing(facade, ".".join(parts))
            refusing = next((p for p in parts if p in _REFUSING), None)
            if missing is None and refusing is None:
                continue
            said = ".".join([root, *attributes])
            self._note(line, said, advice_for(missing or refusing or ""))

    def _note(self, line: int, name: str, advice: str) -> None:
        self.notes.append(Note(line, f"{name} is left to you: {advice}"))

    def _note_keras(self, line: int, name: str) -> None:
        text = f"{name} is Keras 3 now: set KERAS_BACKEND=jax before it is imported"
        self.notes.append(Note(line, text))

    def finished(self) -> Rewritten:
        """The new text, and the notes with the lines that they have in it."""
        notes = self.notes
        for edit in sorted(self._edits, key=lambda edit: edit.place)[::-1]:
            assert edit.node.end_lineno is not None
            grown = self._apply(edit, edit.node.end_lineno)
            notes = [_moved(note, edit.node.end_lineno, grown) for note in notes]
        source = b"".join(self._lines).decode()
        return Rewritten(source, tuple(sorted(set(notes))))

    def _apply(self, edit: _Edit, last: int) -> int:
        """Replaces one statement; returns by how many lines the text has grown."""
        node, first = edit.node, edit.node.lineno - 1
        before = self._lines[first][: node.col_offset]
        after = self._lines[last - 1][node.end_col_offset :]
        if edit.module is None:
            newline = b"\r\n" if after.endswith(b"\r\n") else b"\n"
            indented = newline + before if not before.strip() else b"; "
            new = indented.join(text.encode() for text in edit.statements)
        else:
            whole = b"".join(self._lines[first:last])
            end = len(whole) - len(after)
            old, module = edit.module
            new = re.sub(
                rb"\b%s\b" % re.escape(old.encode()),
                module.encode(),
                whole[len(before) : end],
                count=1,
            )
        lines = (before + new + after).splitlines(keepends=True)
        self._lines[first:last] = lines
        return len(lines) - (last - first)


def _moved(note: Note, last: int, grown: int) -> Note:
    return note if note.line <= last else Note(note.line + grown, note.text)


def _from(module: str, names: list[str]) -> str:
    beginning = f"from {module} " if module else ""
    return f"{beginning}import {', '.join(names)}"


def _is_tensorflow(module: str) -> bool:
    return module == "tensorflow" or module.startswith("tensorflow.")


def _keras_module(name: str) -> str | None:
    """``keras.layers`` for ``tensorflow.keras.layers``; None for what is not Keras."""
    for beginning in ("tensorflow.keras", "tensorflow.compat.v2.keras"):
        if name == beginning or name.startswith(f"{beginning}."):
            return "keras" + name.removeprefix(beginning)
    return None


def _split(module: str) -> tuple[str, str]:
    """The facade that a module of TensorFlow is in, and its name there."""
    for beginning in sorted(_FACADES, key=len, reverse=True):
        if module == beginning or module.startswith(f"{beginning}."):
            return _FACADES[beginning], module.removeprefix(beginning).lstrip(".")
    return _FACADES["tensorflow"], module


def _module(facade: str, name: str) -> str:
    """By which name a module within a facade can be imported.

    ``replax.compat.v2.distribute`` is another name for ``replax.distribute``.
    """
    found: object = importlib.import_module(facade)
    for part in filter(None, name.split(".")):
        found = getattr(found, part, None)
    return found.__name__ if inspect.ismodule(found) else f"{facade}.{name}"


def _first_missing(facade: str, name: str) -> str | None:
    """The beginning of a name, up to the part that the facade does not have."""
    found: object = importlib.import_module(facade)
    parts = name.split(".") if name else []
    for i, part in enumerate(parts):
        if not hasattr(found, part):
            return ".".join(parts[: i + 1])
        found = getattr(found, part)
        if not (inspect.ismodule(found) or inspect.isclass(found)):
            return None  # of values and functions it cannot be known
    return None


def _dotted_names(tree: ast.AST) -> Iterator[tuple[str, list[str], int]]:
    """Each ``a.b.c`` of a program, whole: its root, its attributes, and its line."""
    inner: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Attribute, ast.Name)) or id(node) in inner:
            continue
        attributes: list[str] = []
        at: ast.expr = node
        while isinstance(at, ast.Attribute):
            attributes.append(at.attr)
            at = at.value
            inner.add(id(at))
        if isinstance(at, ast.Name):
            yield at.id, attributes[::-1], node.lineno
