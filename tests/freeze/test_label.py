"""The freeze label, end to end."""

from tests.freeze.world import MAINTAINER


def test_a_maintainers_label_accepts_what_is_worse(world):
    assert world.freeze() == 0
    assert world.labels == []
    (lines,) = world.records().values()
    head, *rows = lines
    assert (head["kind"], head["by"], head["pull_request"], head["commit"]) == ("freeze", MAINTAINER, 1, world.merge)
    assert [(r["item"], [g["verdict"] for g in r["grades"]]) for r in rows] == [
        ("golden/france", ["incorrect"] * 2),
        ("golden/wrong", ["correct"] * 2),
    ]
    assert world.verdict() == "success"
    assert "Frozen by maintainer: 2 items with 2 fresh repeats each" in world.comment
    assert world.server.state.labels["freeze-baseline"]["description"]
