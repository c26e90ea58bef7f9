"""Two processes that have a network between them, as on two machines.

Each is in a network namespace of its own, in which 127.0.0.1 is another address. They
are joined by a pair of virtual interfaces.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from replax._src.testing.member import Place
from replax._src.testing.run import run_in
from replax._src.testing.sending import packed
from replax._src.testing.surroundings import environment_of

HOSTS = ("10.213.47.1", "10.213.47.2")
PORT = 5731


def ip(*arguments: str) -> None:
    line = ["ip", *arguments]
    done = subprocess.run(line, capture_output=True, check=False, text=True, timeout=60)
    if done.returncode != 0:
        pytest.skip(f"network namespaces cannot be made here: {done.stderr.strip()}")


@pytest.fixture
def namespaces() -> Iterator[tuple[str, str]]:
    if shutil.which("ip") is None:
        pytest.skip("network namespaces cannot be made without ip, of iproute2")
    names = (f"replax-{os.getpid()}-0", f"replax-{os.getpid()}-1")
    try:
        for name in names:
            ip("netns", "add", name)
        first, second = names
        ip(*f"link add veth netns {first} type veth peer veth netns {second}".split())
        for name, host in zip(names, HOSTS, strict=True):
            ip("-n", name, "addr", "add", f"{host}/24", "dev", "veth")
            for device in ("lo", "veth"):
                ip("-n", name, "link", "set", device, "up")
        yield names
    finally:
        for name in names:
            line = ["ip", "netns", "del", name]
            subprocess.run(line, capture_output=True, check=False, timeout=60)


def test_workers_on_two_networks_train_together(namespaces: tuple[str, str]) -> None:
    def train() -> Any:
        import replax

        strategy = replax.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            total = replax.Variable(np.zeros(5000, np.float32))

        @replax.function
        def step(x: Any) -> None:
            def add(x: Any) -> None:
                context: Any = replax.distribute.get_replica_context()
                total.assign_add(context.all_reduce("SUM", x))

            strategy.run(add, args=(x,))

        for i in range(3):
            step(np.full(5000, i, np.float32))
        return total.numpy().sum().item()

    addresses = [f"{host}:{PORT}" for host in HOSTS]
    places = [
        Place(
            environment_of(rank, addresses, ["worker"] * 2, 2, {}),
            ("ip", "netns", "exec", name),
        )
        for rank, name in enumerate(namespaces)
    ]
    result = run_in(places, packed(train, ()), timeout=240, grace=1)
    # The sum of 0, 1 and 2, of four replicas.
    assert result.values == [5000 * 3 * 4] * 2
