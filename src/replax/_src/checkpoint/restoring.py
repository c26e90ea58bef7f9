"""Giving saved values to the objects of a program, now or when they appear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import jax

from replax._src.checkpoint import contents, fitting, foreign
from replax._src.checkpoint.saved import (
    Leaf,
    Names,
    Node,
    Path,
    leaves_of,
)
from replax._src.values.variable import Variable

__all__ = ["Restoration", "Waits", "setter"]


class Waits(Protocol):
    """An object that takes values for attributes that it does not have yet."""

    def tracked(self) -> dict[str, Any]:
        """The attributes that are there, by name."""
        ...

    def expect(self, name: str, restoration: Restoration, path: Path) -> None:
        """Notes that an attribute, once set, is to be given to ``restoration``."""
        ...

    def replace(self, name: str, value: Any) -> None:
        """Sets an attribute to what was restored."""
        ...


class Restoration:
    """One restore: what was read, and what of it has found its place.

    Attributes:
      source: The checkpoint's path.
    """

    def __init__(self, names: Names, source: str) -> None:
        self.source = source
        self._names = names
        self._given: set[Path] = set()
        self._lacking: dict[Path, Any] = {}

    def give(self, value: Any, path: Path = ()) -> Any:
        """Restores into a value what was saved under its path.

        All is checked before anything is changed.

        Returns:
          The value; another one if it cannot be changed in place, as a number.
        """
        node = self._node(path)
        walk = _Walk(self, self.source)
        new = value if node is None else walk.match(value, node, path, ())
        for change in walk.changes:
            change()
        self._given.update(walk.given)
        for found in walk.given:
            self._lacking.pop(found, None)
        self._lacking.update(walk.lacking)
        return new

    def give_late(self, root: Any) -> None:
        """Restores into what has appeared since, and looks what is lacking."""
        self._lacking.clear()
        self.give(root)

    def is_given(self, path: Path) -> bool:
        """Whether a saved value has found its place already."""
        return path in self._given

    def not_given(self) -> list[Path]:
        """What the checkpoint has and the program does not."""
        return [p for p, _ in leaves_of(self._names) if p not in self._given]

    def lacking(self) -> list[Path]:
        """What the program has and the checkpoint does not."""
        return list(self._lacking)

    def has_given(self) -> bool:
        """Whether anything has been restored."""
        return bool(self._given)

    def _node(self, path: Path) -> Node | None:
        node: Node = self._names
        for name in path:
            if isinstance(node, Leaf) or name not in node:
                return None
            node = node[name]
        return node


class _Walk:
    """Finds what is to be changed, without changing anything yet."""

    def __init__(self, restoration: Restoration, source: str) -> None:
        self.changes: list[Callable[[], object]] = []
        self.given: list[Path] = []
        self.lacking: dict[Path, Any] = {}
        self._restoration = restoration
        self._source = source

    def match(self, value: Any, node: Node, path: Path, above: tuple[int, ...]) -> Any:
        if isinstance(value, Variable):
            self._match_variable(value, node, path)
            return value
        if foreign.is_foreign_variable(value):
            self._match_foreign(value, node, path)
            return value
        if contents.is_plain_value(value):
            return self._match_plain(value, node, path)
        below = contents.children(value)
        if below is None:
            return self._match_tree(value, node, path, above)
        names = {} if isinstance(node, Leaf) else node
        for name, child in below.items():
            if id(child) in above:
                continue
            where = (*path, name)
            new = child
            if name in names:
                new = self.match(child, names[name], where, (*above, id(value)))
            else:
                self._lacks(child, where)
            if new is not child:
                self._put(setter(value, name), new)
        self._leave_to_come(value, names, below, path)
        return value

    def _put(self, put: Callable[[Any], None], new: Any) -> None:
        self.changes.append(lambda: put(new))

    def _match_variable(self, variable: Variable, node: Node, path: Path) -> None:
        fitted = fitting.for_variable(variable, node, path, self._source)
        if fitted is None:
            self.lacking[path] = variable
            return
        new, paths = fitted
        if not all(map(self._restoration.is_given, paths)):
            self.changes.append(lambda: variable.overwrite(new))
        self.given.extend(paths)

    def _match_foreign(self, variable: Any, node: Node, path: Path) -> None:
        if not isinstance(node, Leaf):
            self.lacking[path] = variable
            return
        if not self._restoration.is_given(path):
            new = fitting.for_foreign(variable, node, path, self._source)
            self.changes.append(lambda: foreign.assign(variable, new))
        self.given.append(path)

    def _match_plain(self, value: Any, node: Node, path: Path) -> Any:
        if not isinstance(node, Leaf):
            self.lacking[path] = value
            return value
        self.given.append(path)
        if self._restoration.is_given(path):
            return value
        return fitting.for_value(value, node, path, self._source)

    def _match_tree(
        self, value: Any, node: Node, path: Path, above: tuple[int, ...]
    ) -> Any:
        """Tuples, named tuples and other trees, which are made anew."""
        parts, treedef = contents.parts_of_tree(value)
        if contents.is_tree_leaf(treedef):
            return value
        leaves: list[Any] = []
        for names, leaf in parts:
            child: Node | None = node
            for name in names:
                found = isinstance(child, dict) and name in child
                child = cast("Names", child)[name] if found else None
            where = (*path, *names)
            if child is None:
                self._lacks(leaf, where)
                leaves.append(leaf)
            else:
                leaves.append(self.match(leaf, child, where, (*above, id(value))))
        if all(new is old for new, (_, old) in zip(leaves, parts, strict=True)):
            return value
        return jax.tree_util.tree_unflatten(treedef, leaves)

    def _lacks(self, value: Any, path: Path) -> None:
        for names, leaf in contents.gathered(value):
            self.lacking[(*path, *names)] = leaf

    def _leave_to_come(
        self, value: Any, names: Names, below: dict[str, Any], path: Path
    ) -> None:
        """What is saved under names that the value does not have (yet)."""
        extra = {name: node for name, node in names.items() if name not in below}
        if isinstance(value, contents.Tracked):
            for name, node in extra.items():
                if not self._is_given(node, (*path, name)):
                    self.changes.append(
                        _expecter(value, name, self._restoration, (*path, name))
                    )
        elif isinstance(value, dict):
            for name, node in extra.items():
                self._add(setter(value, name), node, (*path, name))
        elif isinstance(value, list):
            # A list that was longer when it was saved: the rest, in its order.
            while (name := str(len(below))) in extra:
                below[name] = None
                self._add(cast("Any", value).append, extra[name], (*path, name))

    def _add(self, put: Callable[[Any], None], node: Node, path: Path) -> None:
        if _has_variables(node) or self._is_given(node, path):
            return
        new = fitting.as_it_was_saved(node)
        self._put(put, new)
        self.given.extend(where for where, _ in leaves_of(node, path))

    def _is_given(self, node: Node, path: Path) -> bool:
        return all(self._restoration.is_given(p) for p, _ in leaves_of(node, path))


def _has_variables(node: Node) -> bool:
    return any(leaf.of_variable for _, leaf in leaves_of(node))


def _expecter(
    tracked: Any, name: str, restoration: Restoration, path: Path
) -> Callable[[], None]:
    waits: Waits = tracked
    return lambda: waits.expect(name, restoration, path)


def setter(holder: Any, name: str) -> Callable[[Any], None]:
    """What puts a value in the place of the one that has a name."""
    if isinstance(holder, contents.Tracked):
        waits: Waits = cast("Waits", holder)
        return lambda new: waits.replace(name, new)
    if isinstance(holder, dict):
        return lambda new: cast("dict[str, Any]", holder).__setitem__(name, new)
    if isinstance(holder, list):
        return lambda new: cast("list[Any]", holder).__setitem__(int(name), new)
    return lambda new: setattr(holder, name, new)
