"""The documented catalogue is the one in the code."""

import re
from pathlib import Path

from grader_gate.model import GradeVerdict
from grader_gate.suite.mutators import Mutant, MutationContext, Mutator, mutate, registry
from grader_gate.suite.mutators.catalogue import builtin
from grader_gate.suite.mutators.document import refreshed

from .helpers import case

PAGE = Path(__file__).parents[2] / "docs" / "mutators.md"


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert page == refreshed(page, builtin()), "run: python -m grader_gate.suite.mutators.document docs/mutators.md"


def test_every_mutator_has_one_row_and_the_default_ones_are_bold():
    rows = re.findall(r"^\| (\*\*)?`(\w+)`", PAGE.read_text(encoding="utf-8"), re.M)
    shown = {name: bool(bold) for bold, name in rows if name in registry()}
    assert {name: m.default for name, m in registry().items()}.items() <= shown.items()


def test_the_example_of_an_own_mutator_works():
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[1]
    space = {}
    exec(code, space)  # The page is ours.
    own = space["mutator"]()
    assert isinstance(own, Mutator)
    assert own.best is GradeVerdict.PARTIAL
    assert mutate(own, own.example[0], case(own.example[0]), MutationContext()) == (Mutant(own.example[1]),)
