"""Runs chosen cases by hand, whether they are expected to pass or not.

From the folder ``tests``::

    python -m conformance                     # every case
    python -m conformance run reduce/nested   # an area, and the cases so named
    python -m conformance --answer run/kwargs # what a case answers

The expected answers are TensorFlow's. Where TensorFlow 2.21 is installed,
``--library tensorflow`` checks them and ``--record`` writes them anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from conformance.case_file import all_cases
from conformance.runner import ConformanceError, Runner

if TYPE_CHECKING:
    from conformance.case_file import Case


def main() -> int:
    parser = argparse.ArgumentParser(prog="conformance")
    parser.add_argument("names", nargs="*", help="areas, or beginnings of case names")
    parser.add_argument("--library", default="replax", help="replax or tensorflow")
    parser.add_argument("--answer", action="store_true", help="print the answers")
    parser.add_argument("--record", action="store_true", help="write expected/")
    options = parser.parse_args()
    if options.record and options.library != "tensorflow":
        parser.error(
            "what is expected is what TensorFlow answers; --library tensorflow"
        )
    chosen = [c for c in all_cases() if _named(c, options.names)]
    if not chosen:
        parser.error(f"no case is named {options.names}; see tests/conformance/cases")
    failed = 0
    with Runner(options.library) as runner:
        for case in chosen:
            try:
                if options.record:
                    _record(case, runner)
                elif options.answer:
                    print(case.name, json.dumps(runner.answer(case)))
                else:
                    runner.check(case)
            except ConformanceError as error:
                failed += 1
                print(f"FAIL {error}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _named(case: Case, names: list[str]) -> bool:
    return not names or any(case.area == n or case.name.startswith(n) for n in names)


def _record(case: Case, runner: Runner) -> None:
    case.expected_path.parent.mkdir(parents=True, exist_ok=True)
    case.expected_path.write_text(json.dumps(runner.answer(case)) + "\n")


if __name__ == "__main__":
    sys.exit(main())
