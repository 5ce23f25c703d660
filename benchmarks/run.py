"""Measure, print one table, and fail where a limit is broken. `make bench` runs it.

Where a limit is about time, its figure is a ratio within this one run or the processor's own time:
two machines, or two hours of one, are never compared.
"""

import sys

from benchmarks import (
    checkpointing,
    mapping,
    mending,
    reading,
    records,
    router,
    starting,
    turns,
    writing,
)
from benchmarks.row import Row

MEASURES = (
    starting.measure,
    turns.measure,
    writing.measure,
    reading.measure,
    router.measure,
    records.measure,
    checkpointing.measure,
    mapping.measure,
    mending.measure,
)


def main() -> int:
    rows = [row for measure in MEASURES for row in measure()]
    print_table(rows)
    return 0 if all(row.holds for row in rows) else 1


def print_table(rows: list[Row]) -> None:
    wide = max(len(row.what) for row in rows)
    figure = max(len(row.figure) for row in rows)
    for row in rows:
        mark = "    " if not row.limit else "ok  " if row.holds else "OVER"
        print(f"{mark}  {row.what:<{wide}}  {row.figure:<{figure}}  {row.limit}".rstrip())


if __name__ == "__main__":
    sys.exit(main())
