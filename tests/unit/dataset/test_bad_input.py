"""What is wrong with the input is said: what it is, where, and what to write."""

from __future__ import annotations

import pathlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from record_bytes import record
from replax import TensorSpec
from replax.data import AUTOTUNE, Dataset, TFRecordDataset
from replax.errors import DataLossError, InvalidArgumentError, NotFoundError


def said(error: BaseException) -> str:
    """The error as users see it, with its notes."""
    return "".join(traceback.format_exception_only(error))


class TestBatches:
    def test_of_different_shapes_name_element_leaf_and_shapes(self) -> None:
        def grown(n: Any) -> Any:
            return {"x": np.zeros(3), "y": np.zeros((2, 5 if n == 7 else 4))}

        batches = iter(Dataset.range(9).map(grown).batch(3))
        assert [next(batches)["y"].shape for _ in range(2)] == [(3, 2, 4)] * 2
        with pytest.raises(
            InvalidArgumentError,
            match=r"element 6 is float64\[2, 4\] in \['y'\], and element 7 is "
            r"float64\[2, 5\]; use padded_batch, or map them to one shape",
        ):
            next(batches)

    def test_of_different_structures(self) -> None:
        elements: list[Any] = [(1, 2), {"a": 3}]
        dataset = Dataset.from_generator(lambda: iter(elements)).batch(2)
        with pytest.raises(
            InvalidArgumentError,
            match=r"differ in structure: \(\*, \*\) and then \{'a': \*\}; let the",
        ):
            list(dataset)


class TestGenerators:
    @pytest.mark.parametrize(
        ("spec", "second", "message"),
        [
            (TensorSpec((2,), "int32"), [1], r"int64\[1\].*shape=\(2,\)"),
            (TensorSpec((), "int32"), 2.5, r"float64\[\] 2.5.*dtype=int32"),
            (TensorSpec((), "int32"), 2**40, r"int64\[\] 1099511627776.*dtype=int32"),
            (TensorSpec((), "int32"), "x", r"<U1\[\] x.*dtype=int32"),
            ((TensorSpec(()), TensorSpec(())), (1,), r"\(1,\).*output_signature says"),
        ],
    )
    def test_that_do_not_keep_their_word(
        self, spec: Any, second: Any, message: str
    ) -> None:

        def generator() -> Iterator[Any]:
            if isinstance(spec, tuple):
                yield 1.0, 2.0
            else:
                yield np.zeros(tuple(spec.shape), np.int32)
            yield second

        iterator = iter(Dataset.from_generator(generator, output_signature=spec))
        next(iterator)
        with pytest.raises(
            (InvalidArgumentError, TypeError),
            match=rf"element 1 of from_generator\(generator\).*{message}.*yield what",
        ):
            next(iterator)

    @pytest.mark.parametrize("batch", [1, 2, 5])
    def test_that_raise(self, batch: int) -> None:
        def generator() -> Iterator[int]:
            yield 1
            yield 2
            msg = "the disk is gone"
            raise OSError(msg)

        dataset = Dataset.from_generator(generator).batch(batch)
        given: list[Any] = []
        with pytest.raises(OSError, match="the disk is gone") as caught:
            given.extend(dataset)
        assert "(raised by from_generator(generator), for element 2)" in said(
            caught.value
        )
        assert sum(len(x) for x in given) == (2 if batch < 5 else 0)


def check(x: Any) -> Any:
    if x == 3:
        msg = "three"
        raise KeyError(msg)
    return x


MAPPED: dict[str, Callable[[Dataset], Dataset]] = {
    "map": lambda d: d.map(check),
    "map in threads": lambda d: d.map(check, num_parallel_calls=AUTOTUNE),
    "map read ahead": lambda d: d.map(check).prefetch(4),
    "map in batches": lambda d: d.map(check).batch(8),
    "filter": lambda d: d.filter(lambda x: check(x) >= 0),
    "flat_map": lambda d: d.flat_map(lambda x: Dataset.from_tensors(check(x))),
    "interleave": lambda d: d.interleave(
        lambda x: Dataset.from_tensors(check(x)), 2, num_parallel_calls=2
    ),
    "scan": lambda d: d.scan(0, lambda s, x: (s, check(x))),
}


@pytest.mark.parametrize("how", MAPPED)
def test_a_function_that_raises_names_itself_and_the_element(how: str) -> None:
    dataset = MAPPED[how](Dataset.range(6))
    with pytest.raises(KeyError, match="three") as caught:
        list(dataset)
    assert (
        f"(raised by the function of {how.split(maxsplit=1)[0]}, for element 3)"
        in said(caught.value)
    )


class TestFiles:
    def test_a_pattern_that_matches_nothing(self, tmp_path: pathlib.Path) -> None:
        with pytest.raises(
            InvalidArgumentError, match=r"no file matches .*\*\.none.*check"
        ):
            Dataset.list_files(str(tmp_path / "*.none"))

    def test_a_file_that_is_not_there(self, tmp_path: pathlib.Path) -> None:
        with pytest.raises(NotFoundError, match=r"no file .*absent.*compare the path"):
            list(TFRecordDataset(str(tmp_path / "absent")))

    @pytest.mark.parametrize("parallel", [None, 2])
    def test_a_damaged_record_is_named_or_left_out_and_counted(
        self,
        tmp_path: pathlib.Path,
        parallel: int | None,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        data = bytearray(b"".join(record(b"%d" % i * 20) for i in range(5)))
        data[2 * 36 + 15] ^= 1
        path = tmp_path / "damaged"
        path.write_bytes(data)
        dataset = TFRecordDataset(str(path), num_parallel_reads=parallel)
        given: list[bytes] = []
        with pytest.raises(DataLossError, match=r"damaged.* record 2.* byte 72"):
            given.extend(dataset)
        assert [g[:1] for g in given] == [b"0", b"1"]
        kept = list(dataset.ignore_errors())
        assert [k[:1] for k in kept] == [b"0", b"1", b"3", b"4"]
        assert "ignore_errors left out 1 element; the last error was DataLossError" in (
            caplog.text
        )
