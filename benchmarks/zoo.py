"""The zoo as a table: what each broken and each healthy grader is told, and by which audit.

    python benchmarks/zoo.py [--quick] [--json FILE]

Every grader goes through the real command line as a pull request. The exit code is 1 where a broken grader is missed, an
audit speaks that must stay silent, or a healthy grader is blocked. The suite, the graders and the table are those of
``tests/zoo``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.zoo.kennel import Kennel
from tests.zoo.table import ENTRIES, QUICK, Entry


def main() -> int:
    """Print the table; 0 where every row is as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few graders only")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE", help="write the table there")
    options = parser.parse_args()
    started = time.perf_counter()
    rows = []
    with tempfile.TemporaryDirectory(prefix="grader-gate-zoo-") as folder:
        kennel = Kennel(Path(folder) / "zoo")
        for entry in QUICK if options.quick else ENTRIES:
            rows.append(look(kennel, entry))
            print(line(entry, rows[-1]), flush=True)
    wrong = [row["name"] for row in rows if not row["as_expected"]]
    broken = [row for row in rows if not row["healthy"]]
    caught = sum(set(row["expected"]) <= set(row["spoke"]) for row in broken)
    healthy = len(rows) - len(broken)
    blocked = sum(row["blocked"] for row in rows if row["healthy"])
    print(
        f"\n{caught} of {len(broken)} broken graders caught by the right audit; {blocked} of {healthy} healthy blocked"
    )
    print(f"{time.perf_counter() - started:.0f} s" + (f"; not as expected: {', '.join(wrong)}" if wrong else ""))
    if options.json is not None:
        options.json.write_text(json.dumps({"graders": rows}, indent=2) + "\n", "utf-8")
    return 1 if wrong else 0


def look(kennel: Kennel, entry: Entry) -> dict[str, object]:
    """One row: what had to speak, what spoke, and whether the pull request was blocked."""
    seen = kennel.examine(entry)
    as_expected = entry.must <= seen.spoke and not entry.strayed(seen.spoke) and seen.blocked is entry.blocked
    return {
        "name": entry.name,
        "healthy": entry.healthy,
        "expected": sorted(entry.must),
        "spoke": sorted(seen.spoke),
        "blocked": seen.blocked,
        "as_expected": as_expected,
    }


def line(entry: Entry, row: dict[str, object]) -> str:
    """A row for people: the audits that had to speak first, the others in brackets."""
    spoke = set(row["spoke"])  # type: ignore[call-overload]
    others = sorted(spoke - entry.must)
    said = ", ".join(sorted(entry.must & spoke)) + (f" ({', '.join(others)})" if others else "")
    missing = sorted(entry.must - spoke)
    sign = "ok " if row["as_expected"] else "BAD"
    state = "blocked" if row["blocked"] else "open"
    return f"{sign} {entry.name:34} {state:8} {said or '–'}" + (f"  MISSING: {', '.join(missing)}" if missing else "")


if __name__ == "__main__":
    sys.exit(main())
