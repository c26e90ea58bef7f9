"""What several processes have learned is brought together, the same on all of them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np

from fresh_process import ROOT, SECONDS

PROGRAM = """
import json, sys
import jax, numpy as np
rank, size, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
jax.distributed.initialize(address, size, rank, initialization_timeout=120)
from replax._src.cluster.coordination import Coordination
from replax._src.preprocessing import merging
from replax._src.preprocessing.moments import Moments
from replax._src.preprocessing.quantiles import Quantiles
from replax._src.preprocessing.token_counts import TokenCounts

# So that some of it takes several pieces.
merging._PIECE = 100
group = Coordination.of_process()
data = np.random.default_rng(0).normal(3.0, 2.0, (30, 2))[rank::size]
tokens = [b"%d" % (i * i % 11) for i in range(40)] + [bytes([rank, 0, 255])]
learned = []
for make in (lambda: TokenCounts(by_document=True), lambda: Moments((1,)),
             lambda: Quantiles(0.01)):
    mine, all_of_it = make(), make()
    if isinstance(mine, TokenCounts):
        mine.add(tokens[:-1][rank::size] + tokens[-1:], (1, 1))
    elif rank != 1 or isinstance(mine, Moments):
        mine.add(data)
    merging.merge_across(mine, all_of_it, range(size), group)
    learned.append(all_of_it)
counts, moments, quantiles = learned
print(json.dumps({
    "tokens": [token.hex() for token in counts.most_frequent([], None)],
    "mean": moments.mean.tolist(), "variance": moments.variance.tolist(),
    "boundaries": quantiles.boundaries(4),
    "left": sorted(group.all_below("replax/adapt")) if rank == 0 else [],
}))
"""


def answers(size: int) -> list[dict[str, Any]]:
    """What each of ``size`` processes prints."""
    with socket.create_server(("localhost", 0)) as server:
        address = f"localhost:{server.getsockname()[1]}"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(rank), str(size), address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        for rank in range(size)
    ]
    try:
        printed = [process.communicate(timeout=SECONDS) for process in started]
    finally:
        for process in started:
            process.kill()
    codes = [process.returncode for process in started]
    assert codes == [0] * size, "\n".join(error for _, error in printed)
    return [json.loads(out.splitlines()[-1]) for out, _ in printed]


def test_all_processes_have_learned_what_one_would_have() -> None:
    first, *others = answers(3)
    assert all({**first, "left": []} == other for other in others)
    data = np.random.default_rng(0).normal(3.0, 2.0, (30, 2))
    np.testing.assert_allclose(first["mean"], data.mean(axis=0))
    np.testing.assert_allclose(first["variance"], data.var(axis=0))
    assert len(first["boundaries"]) == 3
    counts = Counter(b"%d" % (i * i % 11) for i in range(40))
    frequent = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
    own = [bytes([rank, 0, 255]) for rank in (2, 1, 0)]
    assert [bytes.fromhex(token) for token in first["tokens"]] == [*frequent, *own]
    assert first["left"] == []
