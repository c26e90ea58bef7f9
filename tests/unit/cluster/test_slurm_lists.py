"""Slurm's short forms of hosts and counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replax._src.cluster.slurm_lists import counts_in, hosts_in


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("node", ["node"]),
        ("n1,m5", ["n1", "m5"]),
        (
            "n[1-2],m5,o[3-4,6,7-9]",
            ["n1", "n2", "m5", *(f"o{i}" for i in (3, 4, 6, 7, 8, 9))],
        ),
        ("t02n[09-10,13]", ["t02n09", "t02n10", "t02n13"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("n[098-101]", ["n098", "n099", "n100", "n101"]),
        (
            "rack[0-1]node[01-02]",
            ["rack0node01", "rack0node02", "rack1node01", "rack1node02"],
        ),
        ("n[1-2]-ib,login.example.org", ["n1-ib", "n2-ib", "login.example.org"]),
        ("[1-2]", ["1", "2"]),
        ("n[3]", ["n3"]),
    ],
)
def test_hosts(text: str, hosts: list[str]) -> None:
    assert hosts_in(text, "X") == hosts


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "n1,",
        "n1,,n2",
        "n[1-2",
        "n1-2]",
        "n[]",
        "n[2-1]",
        "n[a-b]",
        "n[1-2-3]",
        "n[1,]",
        "n[1-[2]]",
        "n 1",
        "n[0-99999999999]",
    ],
)
def test_what_is_no_list_of_hosts(text: str) -> None:
    with pytest.raises(ValueError, match=r"X is '.*', and has to be a list of hosts"):
        hosts_in(text, "X")


NAMES = st.from_regex(r"[a-z][a-z0-9.-]{0,6}", fullmatch=True)


@given(
    st.lists(
        st.tuples(NAMES, st.lists(st.tuples(st.integers(0, 999), st.integers(0, 5)))),
        min_size=1,
    ),
    st.integers(1, 4),
)
def test_lists_that_were_written_are_read(
    parts: list[tuple[str, list[tuple[int, int]]]], width: int
) -> None:
    texts: list[str] = []
    hosts: list[str] = []
    for name, ranges in parts:
        written = [
            f"{a:0{width}}" if not more else f"{a:0{width}}-{a + more:0{width}}"
            for a, more in ranges
        ]
        texts.append(f"{name}[{','.join(written)}]" if ranges else name)
        numbers = [a + i for a, more in ranges for i in range(more + 1)]
        hosts += [f"{name}{n:0{width}}" for n in numbers] if ranges else [name]
    assert hosts_in(",".join(texts), "X") == hosts


def test_counts() -> None:
    assert counts_in("2(x3),1", "X") == [2, 2, 2, 1]
    assert counts_in("4", "X") == [4]


@pytest.mark.parametrize("text", ["", "2x3", "2(x)", "(x3)", "2(x3", "-1", "1,", "a"])
def test_what_is_no_list_of_counts(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"X is '.*', and has to be counts .* '2\(x3\)"
    ):
        counts_in(text, "X")
