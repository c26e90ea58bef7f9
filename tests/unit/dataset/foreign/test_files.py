from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import replax
from fresh_process import run_python
from positions import check_positions, nest_equal
from replax.data import ArrayRecordDataset, ParquetDataset


def _write(path: Path, start: int, stop: int, **options: Any) -> None:
    numbers = list(range(start, stop))
    table = pa.table(
        {
            "n": pa.array(numbers, pa.int32()),
            "x": pa.array([[i, i * 0.5] for i in numbers], pa.list_(pa.float32(), 2)),
            "tokens": pa.array([list(range(i % 3)) for i in numbers]),
            "grid": pa.array([[[i, 1], [2, 3]] for i in numbers]),
            "tags": pa.array([["a"] * (i % 2) for i in numbers]),
            "s": pa.array([f"t{i}" for i in numbers]).dictionary_encode(),
            "b": pa.array([bytes([i]) for i in numbers]),
            "ok": pa.array([i % 2 == 0 for i in numbers]),
            "day": pa.array(numbers, pa.date32()),
            "at": pa.array(numbers, pa.timestamp("ms", tz="UTC")),
            "p": pa.array([{"y": i, "z": [i]} for i in numbers]),
        }
    )
    parquet.write_table(table, path, **options)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    _write(tmp_path / "a.parquet", 0, 8, row_group_size=3)
    _write(tmp_path / "b.parquet", 8, 13, row_group_size=5)
    return tmp_path


def test_rows_of_parquet_files(files: Path) -> None:
    def make() -> ParquetDataset:
        return ParquetDataset(str(files / "*.parquet"))

    dataset = make()
    assert len(dataset) == 13
    assert dataset.element_spec["x"] == replax.TensorSpec((2,), "float32")
    assert dataset.element_spec["grid"] == replax.TensorSpec((None, None), "int64")
    elements = check_positions(make)
    assert [int(e["n"]) for e in elements] == list(range(13))
    wanted = {
        "n": np.int32(8),
        "x": np.array([8, 4], np.float32),
        "tokens": np.array([0, 1]),
        "grid": np.array([[8, 1], [2, 3]]),
        "tags": np.array([], object),
        "s": "t8",
        "b": b"\x08",
        "ok": np.True_,
        "day": np.datetime64(8, "D"),
        "at": np.datetime64(8, "ms"),
        "p": {"y": np.int64(8), "z": np.array([8])},
    }
    assert nest_equal(elements[8], wanted)


def test_batches_go_over_row_groups_and_files(files: Path) -> None:
    batches = check_positions(
        lambda: ParquetDataset(str(files / "*.parquet"), ["n"]).batch(4)
    )
    assert [b["n"].tolist() for b in batches] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
        [12],
    ]
    shuffled = ParquetDataset(str(files / "a.parquet"), ["n"]).shuffle(8, seed=1)
    assert sorted(int(e["n"]) for e in shuffled) == list(range(8))


def test_columns_are_chosen(files: Path) -> None:
    dataset = ParquetDataset([str(files / "b.parquet"), files / "a.parquet"], ["s"])
    assert [e["s"] for e in dataset][:2] == ["t8", "t9"]
    assert next(iter(dataset)).keys() == {"s"}
    with pytest.raises(ValueError, match=r"\['q'\].*has n, x, tokens"):
        ParquetDataset(str(files / "a.parquet"), ["q"])
    with pytest.raises(TypeError, match="give a list of names"):
        ParquetDataset(str(files / "a.parquet"), "s")


def test_files_of_other_columns_are_refused(files: Path) -> None:
    parquet.write_table(pa.table({"n": [1]}), files / "c.parquet")
    with pytest.raises(ValueError, match=r"c\.parquet has the columns n: int64"):
        ParquetDataset(str(files / "*.parquet"))
    with pytest.raises(replax.errors.NotFoundError, match="no file matches"):
        ParquetDataset(str(files / "*.json"))


def test_what_numpy_has_no_arrays_of_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    kind = pa.list_(pa.struct([("q", pa.int32())]))
    parquet.write_table(pa.table({"n": [1], "l": pa.array([[]], kind)}), path)
    with pytest.raises(TypeError, match=r"column 'l' .*choose others with columns"):
        ParquetDataset(path)
    assert len(ParquetDataset(path, ["n"])) == 1


def test_a_missing_value_is_an_error_that_says_where(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    lists = [[1], [2, 3], [4, None], [5]]
    table = pa.table({"n": [1, 2, 3, None], "l": lists, "f": [1.0, None, 2.0, 3.0]})
    parquet.write_table(table, path)
    with pytest.raises(ValueError, match="element 3 has no value in column 'n'"):
        list(ParquetDataset(path, ["n"]))
    with pytest.raises(ValueError, match="element 2 has no value in column 'l'"):
        list(ParquetDataset(path, ["l"]))
    assert np.isnan(list(ParquetDataset(path, ["f"]))[1]["f"])


def test_a_damaged_file_is_an_error_with_the_element(files: Path) -> None:
    dataset = ParquetDataset(str(files / "*.parquet"), ["b"])
    path = files / "b.parquet"
    data = bytearray(path.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little") + 8
    data[4:-footer] = b"\xff" * (len(data) - footer - 4)
    path.write_bytes(bytes(data))
    iterator = iter(dataset)
    assert [next(iterator)["b"] for _ in range(8)] == [bytes([i]) for i in range(8)]
    with pytest.raises(Exception, match=r".") as caught:
        next(iterator)
    assert "for element 8" in caught.value.__notes__[-1]


def _array_record(path: Path, start: int, stop: int) -> str:
    module: Any = importlib.import_module("array_record.python.array_record_module")
    writer = module.ArrayRecordWriter(str(path), "group_size:1")
    for i in range(start, stop):
        writer.write(f"r{i}".encode())
    writer.close()
    return str(path)


def test_records_of_array_record_files(tmp_path: Path) -> None:
    _array_record(tmp_path / "a.array_record", 0, 4)
    _array_record(tmp_path / "b.array_record", 4, 7)
    pattern = str(tmp_path / "*.array_record")
    assert len(ArrayRecordDataset(pattern)) == 7
    assert ArrayRecordDataset(pattern).element_spec == replax.TensorSpec((), object)
    records = check_positions(lambda: ArrayRecordDataset(pattern))
    assert records == [f"r{i}".encode() for i in range(7)]
    assert list(ArrayRecordDataset(pattern).skip(5)) == [b"r5", b"r6"]
    mixed = check_positions(lambda: ArrayRecordDataset(pattern).shuffle(7, seed=1))
    assert sorted(mixed) == records


_WITHOUT = """
import pathlib, sys, tempfile
sys.modules["{package}"] = None
import replax
file = pathlib.Path(tempfile.mkdtemp()) / "a"
file.touch()
try:
    {call}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("package", "call", "remedy"),
    [
        ("pyarrow", "replax.data.ParquetDataset(file)", "replax[parquet]"),
        ("array_record", "replax.data.ArrayRecordDataset(file)", "array_record"),
        ("grain", "replax.data.Dataset.range(2).to_grain()", "replax[grain]"),
    ],
)
def test_what_is_not_installed_is_named(package: str, call: str, remedy: str) -> None:
    printed = run_python("-c", _WITHOUT.format(package=package, call=call))
    assert "pip install" in printed
    assert remedy in printed
