"""Names of public modules that are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["loaded_later"]


def loaded_later(
    module: str,
    name: str,
    homes: Mapping[str, str | None],
    advice: Callable[[str, str], str] | None = None,
) -> object:
    """What ``__getattr__`` of a module gives: importing it is quicker for that.

    Args:
      module: The module that is asked.
      name: The name it is asked for.
      homes: For each name that is loaded later the module that has it; None for a
        module of that name below ``module``.
      advice: What to write instead of a name of this module that there is not.

    Raises:
      AttributeError: The name is not one of them.
    """
    if name not in homes:
        msg = f"module {module!r} has no attribute {name!r}"
        if advice is not None and not name.startswith("_"):
            msg = f"{msg}: {advice(module, name)}"
        raise AttributeError(msg)
    home = homes[name]
    if home is None:
        return import_module(f"{module}.{name}")
    return getattr(import_module(home), name)
