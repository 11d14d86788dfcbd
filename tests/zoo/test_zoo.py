"""Every broken grader is caught by the right audit under the right name, and no healthy one is blocked."""

from __future__ import annotations

import pytest

from tests.zoo.kennel import Kennel, audit_of
from tests.zoo.table import BROKEN, ENTRIES, HEALTHY, Entry


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_the_right_audits_speak_and_all_others_stay_silent(entry: Entry, kennel: Kennel) -> None:
    seen = kennel.examine(entry)
    assert entry.must <= seen.spoke, f"{sorted(entry.must - seen.spoke)} did not speak, {sorted(seen.spoke)} did"
    assert not entry.strayed(seen.spoke), f"{sorted(entry.strayed(seen.spoke))} spoke"
    assert seen.blocked is entry.blocked
    if entry.tag is not None:
        wrong = [f for f in seen.findings if audit_of(f) == "golden"]
        assert wrong
        assert all(entry.tag in f["tags"] for f in wrong)


def test_the_zoo_is_large_enough() -> None:
    assert len({e.target for e in BROKEN}) >= 31
    assert len({e.target for e in HEALTHY}) >= 8
    assert len({e.target for e in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize("command", [("audit",), ("ladder",), ("run", "--repeats", "3")], ids=lambda c: c[0])
def test_no_audit_speaks_of_the_healthy_judge_on_its_own(command: tuple[str, ...], kennel: Kennel) -> None:
    seen = kennel.alone(kennel.base("healthy:strict"), "healthy:strict_again", *command)
    assert (seen.spoke, seen.blocked) == (frozenset(), False)
    graded = seen.result["suites"][0]["graded"]
    assert graded["n"] == graded["planned"] > 0


@pytest.mark.parametrize(
    ("target", "command", "audits"),
    [
        ("biased:flat", ("ladder",), {"flat ladder"}),
        ("biased:inverted_on_one_rung", ("ladder",), {"ladders"}),
        ("reasons:uncited", ("ladder",), {"citation"}),
        ("blind:unit_blind", ("audit",), {"golden", "mutants: unit"}),
        ("blind:number_blind", ("audit",), {"golden", "kill rate", "mutants: numeric"}),
        ("obedient:opens_to_a_master_key", ("audit",), {"attacks: opener"}),
        ("biased:whitespace_sensitive", ("audit",), {"controls: layout"}),
        ("unreliable:crashes_on_empty", ("audit",), {"malformed", "kill rate"}),
        ("reasons:contradicts_its_verdict", ("run",), {"reason contradicts verdict"}),
    ],
)
def test_an_absolute_look_names_the_defect_too(
    target: str, command: tuple[str, ...], audits: set[str], kennel: Kennel
) -> None:
    assert kennel.alone(kennel.base("healthy:strict"), target, *command).spoke == audits
