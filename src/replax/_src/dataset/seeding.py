"""Seeds for what is random in a plan: fixed when an iteration begins."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from replax._src.dataset.node import Node, rewritten, walk
from replax._src.dataset.shuffling import Chance, key_of

__all__ = ["RandomNode", "Seeds", "chances", "seeded", "with_seeds"]

# The seeds of the random steps of a plan, in the order in which a walk meets them.
Seeds = list[int]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class RandomNode(Node):
    """A step whose elements depend on a seed.

    Attributes:
      chance: Where the seed comes from.
      seed: The seed that is used; taken from ``chance`` when an iteration begins.
    """

    chance: Chance
    seed: int = 0


def chances(plan: Node) -> Iterator[Chance]:
    """Where the seeds of a plan come from."""
    for node in walk(plan):
        if isinstance(node, RandomNode):
            yield node.chance


def with_seeds(plan: Node, seeds: Seeds) -> Node:
    """The plan with these seeds."""
    by_chance = dict(zip(chances(plan), seeds, strict=True))
    return _reseeded(plan, lambda node: by_chance[node.chance])


def seeded(plan: Node, seed: int, number: int) -> Node:
    """The plan that was made from an element, with seeds that depend on which it was.

    Args:
      plan: The plan.
      seed: The seed of the step that made it.
      number: The number of the element.
    """
    places = {chance: place for place, chance in enumerate(chances(plan))}
    if not places:
        return plan

    def derived(node: RandomNode) -> int:
        if node.chance.seeded:
            return node.chance.seed
        return int(key_of(seed, number, places[node.chance])[0] >> 33)

    return _reseeded(plan, derived)


def _reseeded(plan: Node, seed_of: Callable[[RandomNode], int]) -> Node:
    def change(node: Node) -> Node:
        if isinstance(node, RandomNode):
            return dataclasses.replace(node, seed=seed_of(node))
        return node

    return rewritten(plan, change)
