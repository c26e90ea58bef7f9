"""Names that will go away say so, until the version that does not have them."""

from __future__ import annotations

import importlib.metadata

import pytest
from packaging.version import Version

from replax._src.core.deprecation import DEPRECATIONS, Deprecation, warn_deprecated


@pytest.mark.parametrize("deprecation", DEPRECATIONS.values(), ids=DEPRECATIONS)
def test_what_is_due_has_been_removed(deprecation: Deprecation) -> None:
    now = Version(importlib.metadata.version("replax"))
    due = Version(deprecation.remove_in)
    assert now < due, f"remove {deprecation.id}, and its entry in DEPRECATIONS"


@pytest.mark.parametrize("name", DEPRECATIONS)
def test_the_warning_says_since_when_until_when_and_what_instead(name: str) -> None:
    def old() -> None:
        warn_deprecated(name)

    expected = rf"{name} is deprecated since 20\d\d-\d\d-\d\d .* gone in Replax .*; \w"
    with pytest.warns(DeprecationWarning, match=expected) as caught:
        old()
    assert caught[0].filename == __file__
