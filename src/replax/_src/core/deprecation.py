"""Names that will go away: since when, until when, and what to write instead."""

from __future__ import annotations

import dataclasses
import datetime as dt
import warnings

__all__ = ["DEPRECATIONS", "Deprecation", "warn_deprecated"]


@dataclasses.dataclass(frozen=True)
class Deprecation:
    """One name that will go away.

    Attributes:
      id: The name, as users write it.
      since: The day from which on it warns.
      remove_in: The version that does not have it any more.
      instead: What to write in its place.
    """

    id: str
    since: dt.date
    remove_in: str
    instead: str

    @property
    def message(self) -> str:
        """What the warning says."""
        return (
            f"{self.id} is deprecated since {self.since.isoformat()} and will be gone "
            f"in Replax {self.remove_in}; {self.instead}"
        )


# What compat.v1 has beyond compat.v2. TensorFlow 2 has none of it either.
_V1 = {
    "experimental_run": "use strategy.run(fn, args=(next(iterator),))",
    "make_dataset_iterator": (
        "use iter(strategy.experimental_distribute_dataset(dataset))"
    ),
    "make_input_fn_iterator": (
        "use iter(strategy.distribute_datasets_from_function(input_fn))"
    ),
    "experimental_make_numpy_dataset": (
        "use tf.data.Dataset.from_tensor_slices(numpy_input)"
    ),
    "update_config_proto": "leave it out: there are no sessions to configure",
    "enable_eager_execution": "leave it out: Python computes with values always",
    "enable_v2_behavior": "leave it out: everything behaves as in TensorFlow 2",
}

_ALL = {
    **{f"compat.v1.{name}": instead for name, instead in _V1.items()},
    # TensorFlow 2 has it, deprecated as well.
    "Strategy.experimental_distribute_datasets_from_function": (
        "use strategy.distribute_datasets_from_function(dataset_fn)"
    ),
}

DEPRECATIONS = {
    name: Deprecation(name, dt.date(2026, 11, 19), "1.0", instead)
    for name, instead in _ALL.items()
}


def warn_deprecated(name: str) -> None:
    """Warns the caller of the function that calls this."""
    message = DEPRECATIONS[name].message
    warnings.warn(message, DeprecationWarning, stacklevel=3)
