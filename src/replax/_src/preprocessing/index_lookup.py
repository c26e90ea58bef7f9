"""What lookups of strings and of whole numbers have in common."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.core.host import canonical
from replax._src.preprocessing.arrays import is_on_device, module_of
from replax._src.preprocessing.buckets import Salt, as_salt
from replax._src.preprocessing.encoding import DROPPED, encoded, require_mode
from replax._src.preprocessing.layer import PreprocessingLayer
from replax._src.preprocessing.reading import (
    batches_of,
    is_array,
    learned_everywhere,
)
from replax._src.preprocessing.strings import refuse_device
from replax._src.preprocessing.token_counts import TokenCounts
from replax._src.preprocessing.vocabulary import lines_of, require_distinct

__all__ = ["IndexLookup", "LookupOptions"]

_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")

# What a table gives for a token that it does not have, where that needs a second look.
# DROPPED is -1.
UNKNOWN = -2


@dataclasses.dataclass(frozen=True, kw_only=True)
class LookupOptions:
    """How a lookup numbers tokens, and what it gives for them."""

    max_tokens: int | None
    num_oov_indices: int
    mask_token: Any
    oov_token: Any
    invert: bool
    output_mode: str
    pad_to_max_tokens: bool
    salt: Salt | None
    oov_method: str

    @property
    def oov_start(self) -> int:
        """The first number of tokens that are not in the vocabulary."""
        return int(self.mask_token is not None and self.output_mode == "int")

    @property
    def token_start(self) -> int:
        """The number of the first token of the vocabulary."""
        return self.oov_start + self.num_oov_indices

    @property
    def special_tokens(self) -> list[Any]:
        """What stands in the vocabulary in front of its tokens."""
        masks = [self.mask_token] * self.oov_start
        return masks + [self.oov_token] * self.num_oov_indices


class IndexLookup(PreprocessingLayer, is_base=True):
    """Numbers tokens, or finds the token of a number."""

    # What an element of a vocabulary is called in messages.
    kind_of_inputs: ClassVar[str]

    def __init__(
        self,
        options: LookupOptions,
        vocabulary: Any,
        idf_weights: Any,
        base: dict[str, Any],
    ) -> None:
        has_input = base.pop("has_input_vocabulary", vocabulary is not None)
        # Keras says it in configurations; here the vocabulary itself is there.
        base.pop("vocabulary_size", None)
        _require_no_sparse(type(self).__name__, base.pop("sparse", False))
        super().__init__(**base)
        self.options = _checked(type(self).__name__, options)
        self._has_input_vocabulary = has_input
        self._tokens: list[Any] = []
        self._idf_weights: np.ndarray | None = None
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)
        else:
            if idf_weights is not None:
                msg = (
                    f"{type(self).__name__} got idf_weights and no vocabulary; give "
                    f"both, or let adapt() find both"
                )
                raise ValueError(msg)
            self._use(())

    # --- what kinds of tokens differ in ---------------------------------------------

    @abc.abstractmethod
    def _as_token(self, value: Any) -> Any:
        """A token as tables have it."""

    @abc.abstractmethod
    def _shown(self, token: Any) -> Any:
        """A token as vocabularies have it."""

    @abc.abstractmethod
    def _tokens_of_lines(self, lines: Sequence[bytes]) -> list[Any]:
        """The tokens in the lines of a file."""

    @abc.abstractmethod
    def _flat(self, inputs: Any) -> tuple[Any, tuple[int, ...]]:
        """The tokens of an array one after the other, and its shape."""

    @abc.abstractmethod
    def _listed(self, tokens: Any) -> list[Any]:
        """Flat tokens as a list of tokens of Python."""

    @abc.abstractmethod
    def _new_table(self, numbers: dict[Any, int], default: int) -> Any:
        """A table of the numbers of tokens."""

    @abc.abstractmethod
    def _buckets(self, tokens: Any, count: int) -> Any:
        """For each token one of ``count`` numbers."""

    @abc.abstractmethod
    def _array_of(self, tokens: list[Any]) -> np.ndarray:
        """Tokens as they are given to users."""

    # --- vocabulary -----------------------------------------------------------------

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Replaces the vocabulary.

        Args:
          vocabulary: The tokens; with the mask token and those for unknown tokens in
            front of them, or without. Or the name of a file with one token a line,
            without such tokens.
          idf_weights: How much each token weighs, for ``tf_idf``.
        """
        name, options = type(self).__name__, self.options
        if (options.output_mode == "tf_idf") != (idf_weights is not None):
            needs = "needs" if idf_weights is None else "takes no"
            msg = (
                f'{name} with output_mode="{options.output_mode}" {needs} idf_weights '
                f'with its vocabulary; they go with "tf_idf", and adapt() finds both'
            )
            raise ValueError(msg)
        if isinstance(vocabulary, (str, bytes)) or hasattr(vocabulary, "__fspath__"):
            given = tokens = self._tokens_of_lines(lines_of(name, vocabulary))
        else:
            given = [self._as_token(value) for value in _items(vocabulary)]
            special = [self._as_special(token) for token in options.special_tokens]
            count = len(special)
            tokens = given[count:] if given[:count] == special else given
        require_distinct(name, tokens)
        self._require_no_reserved(tokens)
        self._require_room(len(tokens))
        weights = None
        if idf_weights is not None:
            weights = self._padded_in_front(idf_weights, given, tokens)
        self._use(tokens, weights)

    def _require_no_reserved(self, tokens: Sequence[Any]) -> None:
        options = self.options
        reserved = {"mask_token": options.mask_token}
        if options.invert:
            # Otherwise nothing is ever looked up as it.
            reserved["oov_token"] = options.oov_token
        for name, token in reserved.items():
            if token is not None and self._as_token(token) in tokens:
                msg = (
                    f"the vocabulary given to {type(self).__name__} has its {name} "
                    f"{token!r} among the tokens; leave it out, or give a list that "
                    f"begins with exactly {options.special_tokens}"
                )
                raise ValueError(msg)

    def _as_special(self, token: Any) -> Any:
        return None if token is None else self._as_token(token)

    def _require_room(self, count: int) -> None:
        options = self.options
        size = options.token_start + count
        if options.max_tokens is not None and size > options.max_tokens:
            msg = (
                f"the vocabulary given to {type(self).__name__} has {size} entries "
                f"with its special tokens, and max_tokens is {options.max_tokens}; "
                f"shorten it, or give a greater max_tokens"
            )
            raise ValueError(msg)

    def _padded_in_front(
        self, weights: Any, given: Sequence[Any], tokens: Sequence[Any]
    ) -> np.ndarray:
        """The weights of all numbers: unknown tokens have the average."""
        array = np.asarray(weights, np.float64)
        if array.shape != (len(given),):
            msg = (
                f"idf_weights of {type(self).__name__} has the shape "
                f"{list(array.shape)}, and there are {len(given)} tokens; give one "
                f"number for each token of the vocabulary"
            )
            raise ValueError(msg)
        front = self.options.token_start + len(tokens) - len(array)
        return np.pad(array, (front, 0), constant_values=array.mean())

    def _use(self, tokens: Sequence[Any], weights: np.ndarray | None = None) -> None:
        """Makes the tables for a vocabulary."""
        options = self.options
        start = options.token_start
        self._tokens = list(tokens)
        numbers = {token: number for number, token in enumerate(tokens, start)}
        if options.mask_token is not None:
            mask = 0 if options.output_mode == "int" else DROPPED
            numbers[self._as_token(options.mask_token)] = mask
        only = options.num_oov_indices == 1
        self._table = self._new_table(numbers, options.oov_start if only else UNKNOWN)
        if options.invert:
            unknown = options.oov_token
            names = [*options.special_tokens, *tokens, unknown]
            self._names = self._array_of([self._as_token(name) for name in names])
        if weights is not None:
            depth = options.max_tokens if options.pad_to_max_tokens else None
            back = (depth or len(weights)) - len(weights)
            self._idf_weights = np.pad(weights, (0, back)).astype(np.float32)

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """The vocabulary, in the order of the numbers.

        Args:
          include_special_tokens: Whether with the mask token, and those for unknown
            tokens, so that the places in the list are the numbers.
        """
        tokens = [self._shown(token) for token in self._tokens]
        return (
            [*self.options.special_tokens, *tokens]
            if include_special_tokens
            else tokens
        )

    def vocabulary_size(self) -> int:
        """How many numbers there are: of tokens, of unknown ones and of the mask."""
        return self.options.token_start + len(self._tokens)

    # --- learning -------------------------------------------------------------------

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Makes the vocabulary of data: its tokens, the most frequent ones first.

        Of equally frequent tokens the one that sorts last comes first.

        Args:
          data: An array or list; a ``Dataset`` or any iterable of batches; or a
            distributed dataset, of which each worker reads its share, and all get the
            vocabulary of the whole.
          steps: How many batches to read; all if not given.
        """
        if self._has_input_vocabulary:
            msg = (
                f"{self!r} was made with a vocabulary, and adapt() would replace it; "
                f"leave vocabulary out"
            )
            raise ValueError(msg)
        counts = self._new_counts()
        if is_array(data) or isinstance(data, (list, tuple)):
            tokens, shape = self._flat(data)
            # In one array each token of a row of one is a document.
            counts.add(self._listed(tokens), (*shape, 1) if len(shape) == 1 else shape)
        else:
            for batch in batches_of(type(self).__name__, data, steps):
                tokens, shape = self._flat(self._only(batch))
                counts.add(self._listed(tokens), shape)
        self._learn(learned_everywhere(counts, self._new_counts, data))

    def _new_counts(self) -> TokenCounts:
        return TokenCounts(by_document=self.options.output_mode == "tf_idf")

    def _only(self, batch: Any) -> Any:
        if isinstance(batch, (dict, tuple)) and not isinstance(batch, np.ndarray):
            msg = (
                f"{type(self).__name__}.adapt got a batch of several parts, a "
                f"{type(batch).__name__}; give it the part with the tokens: "
                f"dataset.map(lambda x, y: x)"
            )
            raise TypeError(msg)
        return batch

    def _learn(self, counts: TokenCounts) -> None:
        options = self.options
        special = [options.mask_token, options.oov_token]
        limit = options.max_tokens
        tokens = counts.most_frequent(
            [self._as_token(token) for token in special if token is not None],
            None if limit is None else max(limit - options.token_start, 0),
        )
        if not tokens:
            # As in TensorFlow, nothing changes without data.
            return
        weights = None
        if options.output_mode == "tf_idf":
            rareness = counts.rareness(tokens)
            weights = np.pad(
                rareness, (options.token_start, 0), constant_values=rareness.mean()
            )
        self._use(tokens, weights)

    # --- looking up -----------------------------------------------------------------

    def __call__(self, inputs: Any) -> Any:
        """The numbers of tokens, encoded as ``output_mode`` says; or their inverse."""
        options = self.options
        self._require_vocabulary()
        if options.invert:
            return self._named(inputs)
        tokens, shape = self._flat(inputs)
        numbers = self._numbers(tokens).reshape(shape)
        if options.output_mode == "int":
            return numbers[()] if isinstance(numbers, np.ndarray) else numbers
        padded = options.pad_to_max_tokens and options.max_tokens
        depth = padded or self.vocabulary_size()
        if options.output_mode != "tf_idf":
            return encoded(numbers, options.output_mode, depth, np.dtype(np.int64))
        counts = encoded(numbers, "count", depth, np.dtype(np.float32))
        return counts * module_of(counts).asarray(self._idf_weights)

    def _numbers(self, tokens: Any) -> Any:
        options = self.options
        numbers = self._table.find(tokens)
        count = options.num_oov_indices
        if count == 1:
            return numbers
        if not isinstance(numbers, np.ndarray):
            # Traced values cannot be looked at: without a bucket for what is unknown
            # it has no number.
            found = (
                self._buckets(tokens, count) + options.oov_start if count else DROPPED
            )
            return module_of(numbers).where(numbers == UNKNOWN, found, numbers)
        missing = np.flatnonzero(numbers == UNKNOWN)
        if not len(missing):
            return numbers
        unknown = [tokens[i] for i in missing.tolist()]
        if not count:
            shown = ", ".join(repr(self._shown(token)) for token in unknown[:5])
            msg = (
                f"{type(self).__name__} got {self.kind_of_inputs} that are not in its "
                f"vocabulary, {shown}, and num_oov_indices is 0; give "
                f"num_oov_indices=1, or a vocabulary that has them"
            )
            raise InvalidArgumentError(msg)
        chosen = np.array(unknown) if isinstance(tokens, np.ndarray) else unknown
        numbers[missing] = self._buckets(chosen, count) + options.oov_start
        return numbers

    def _named(self, numbers: Any) -> Any:
        """The tokens that have the numbers."""
        xp, names = module_of(numbers), self._names
        if is_on_device(numbers):
            if names.dtype == object:
                refuse_device(type(self).__name__, numbers)
            names = xp.asarray(canonical(names, f"the vocabulary of {self.name}"))
        array = xp.asarray(numbers)
        last = len(names) - 1
        return names[xp.where((array >= 0) & (array < last), array, last)]

    def _require_vocabulary(self) -> None:
        if not self._tokens:
            msg = (
                f"{self!r} has no vocabulary yet, so that it knows no tokens; give it "
                f"vocabulary=..., or call adapt() first"
            )
            raise RuntimeError(msg)

    def get_config(self) -> dict[str, Any]:
        """What ``from_config`` makes the same layer of, vocabulary included."""
        options = self.options
        config = {
            **self._base_config(),
            **dataclasses.asdict(options),
            "salt": None if options.salt is None else list(options.salt),
            "vocabulary": self.get_vocabulary() if self._tokens else None,
            "idf_weights": None,
            "has_input_vocabulary": self._has_input_vocabulary,
        }
        if self._idf_weights is not None:
            weights = self._idf_weights[: self.vocabulary_size()]
            config["idf_weights"] = weights.tolist()
        return config


def _items(vocabulary: Any) -> list[Any]:
    if isinstance(vocabulary, (list, tuple)):
        # Not as an array, in which strings lose NULs at their ends.
        return list(vocabulary)
    return np.asarray(vocabulary).tolist()


def _checked(layer: str, options: LookupOptions) -> LookupOptions:
    if options.max_tokens is not None and options.max_tokens <= 1:
        msg = (
            f"max_tokens of {layer} is {options.max_tokens}; give more than 1, or None"
        )
        raise ValueError(msg)
    if options.pad_to_max_tokens and options.max_tokens is None:
        msg = f"{layer} got pad_to_max_tokens=True without max_tokens; give both"
        raise ValueError(msg)
    if options.num_oov_indices < 0:
        msg = f"num_oov_indices of {layer} is {options.num_oov_indices}; give 0 or more"
        raise ValueError(msg)
    if options.oov_method not in ("floormod", "farmhash"):
        msg = (
            f'oov_method of {layer} is {options.oov_method!r}; it is "floormod" or '
            f'"farmhash"'
        )
        raise ValueError(msg)
    mode = require_mode(layer, options.output_mode, _MODES)
    if options.invert and mode != "int":
        msg = (
            f'{layer} got invert=True with output_mode="{mode}", and tokens have no '
            f'such form; give output_mode="int"'
        )
        raise ValueError(msg)
    salt = as_salt(layer, options.salt)
    return dataclasses.replace(options, output_mode=mode, salt=salt)


def _require_no_sparse(layer: str, sparse: Any) -> None:
    if sparse:
        msg = (
            f"{layer} got sparse=True, and there are no sparse arrays on the host; "
            f"leave it out, and the result is dense"
        )
        raise ValueError(msg)
