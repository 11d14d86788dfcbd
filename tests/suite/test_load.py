"""Suites from files: values, short forms, spellings, and one clear line for every mistake."""

from __future__ import annotations

import gc
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader_gate.config import Config, SuiteConfig
from grader_gate.errors import ExitCode
from grader_gate.model import Criterion, GradeVerdict, Location, Rubric, SourceText
from grader_gate.suite.entry import SuiteError
from grader_gate.suite.load import load_suite, load_suites
from tests.support import DirTree

CASE = {"id": "a", "question": "q?", "answer": "yes", "expected": "correct"}
LADDER = {"id": "l", "question": "q?", "rungs": ["bad", "better", "best"]}


@pytest.fixture
def repo(tmp_path):
    return Repo(tmp_path)


class Repo:
    """A folder with case files."""

    def __init__(self, root):
        self.root, self.tree = root, DirTree(root)

    def write(self, path: str, content):
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        where.write_bytes(content.encode() if isinstance(content, str) else content)
        return self

    def load(self, cases=(), ladders=()):
        return load_suite(self.tree, "s", SuiteConfig(grader="g", cases=cases, ladders=ladders))

    def case(self, **fields):
        merged = {**CASE, **fields}
        self.write("c.json", [{key: value for key, value in merged.items() if value is not ...}])
        (one,) = self.load("c.json").cases
        return one

    def ladder(self, **fields):
        self.write("l.json", [{**LADDER, **fields}])
        (one,) = self.load((), "l.json").ladders
        return one

    def error(self, cases=(), ladders=()) -> str:
        with pytest.raises(SuiteError) as caught:
            self.load(cases, ladders)
        assert caught.value.exit_code is ExitCode.USAGE
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def yaml_error(self, text: str) -> str:
        return self.write("c.yml", text).error("c.yml")


# ---------------------------------------------------------------- values


FULL = """\
source: exam 2025
licence: MIT
defaults:
  tags: [shared]
  rubric: {file: ../rubrics/r.md}
  metadata: {year: 2025, level: 1}
cases:
  - id: one
    question: {file: q.txt}
    reference: |
      Two
      lines
    answer: 42
    expected: partial
    labels: {ann: partial, bob: null, cid: fail}
    tags: [x, y, x]
    evidence: the gap
    facts: [1.5 V is a voltage, "2"]
    entities: [Bulb]
    sources: {d1: text one, d2: {file: q.txt}}
    split: golden
    tolerance: 0.1
    notes: hm
    metadata: {level: 2}
  - id: two
    input: q2
    output: ""
    label: no answer
"""


def test_every_field(repo):
    repo.write("golden/c.yml", FULL.replace("no answer", "FAIL"))
    repo.write("golden/q.txt", b"\xef\xbb\xbfWhy?\r\nSay it.\r\n").write("rubrics/r.md", "Be strict.\n")
    suite = repo.load("golden/*.yml")
    one, two = suite.cases
    assert one.model_dump(exclude={"location", "rubric"}) == {
        "id": "one",
        "question": "Why?\nSay it.\n",
        "reference": "Two\nlines\n",
        "answer": "42",
        "expected": GradeVerdict.PARTIAL,
        "tags": ("x", "y"),
        "labels": {"ann": GradeVerdict.PARTIAL, "bob": None, "cid": GradeVerdict.INCORRECT},
        "evidence": ("the gap",),
        "facts": ("1.5 V is a voltage", "2"),
        "entities": ("Bulb",),
        "sources": ({"id": "d1", "text": "text one"}, {"id": "d2", "text": "Why?\nSay it.\n"}),
        "split": "golden",
        "source": "exam 2025",
        "tolerance": 0.1,
        "metadata": {"licence": "MIT", "year": 2025, "level": 2, "notes": "hm"},
    }
    assert one.rubric == Rubric(text="Be strict.\n", path="rubrics/r.md")
    assert one.location == Location(path="golden/c.yml", line=8)
    assert (two.question, two.answer, two.expected, two.tags) == ("q2", "", GradeVerdict.INCORRECT, ("shared",))
    assert two.location == Location(path="golden/c.yml", line=25)
    assert suite.files == ("golden/c.yml", "golden/q.txt", "rubrics/r.md")
    assert set(repo.tree.reads.values()) == {1}


def test_three_formats_give_the_same_cases(repo):
    rows = [{**CASE, "id": f"c{n}", "labels": {"r": "pass"}, "rubric": ["x"]} for n in range(3)]
    repo.write("a/c.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    repo.write("b/c.json", {"cases": rows}).write("c/c.yaml", json.dumps(rows, indent=1))
    loaded = [repo.load(f"{folder}/*").cases for folder in "abc"]
    plain = [[case.model_dump(exclude={"location"}) for case in cases] for cases in loaded]
    assert plain[0] == plain[1] == plain[2]
    assert [case.location.line for case in loaded[0]] == [1, 2, 3]


def test_line_ends_change_nothing_but_escapes_stay(repo):
    text = "cases:\n  - id: a\n    question: q\n    answer: |\n      x\n      y\n    expected: correct\n"
    one = repo.write("c.yml", text).load("c.yml").cases
    two = repo.write("c.yml", text.replace("\n", "\r\n")).load("c.yml").cases
    assert one == two
    assert repo.case(answer="x\r\ny").answer == "x\r\ny"


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("correct", "correct"), ("Correct", "correct"), ("pass", "correct"), ("TRUE", "correct"), ("1", "correct"),
        (True, "correct"), (1, "correct"), (1.0, "correct"), ("partial", "partial"), ("incorrect", "incorrect"),
        ("fail", "incorrect"), ("false", "incorrect"), ("0", "incorrect"), (False, "incorrect"), (0, "incorrect"),
    ],
)  # fmt: skip
def test_verdict_words(repo, word, verdict):
    assert repo.case(expected=word).expected == verdict


@pytest.mark.parametrize("word", ["maybe", "", 2, 0.5, ["correct"], "correct answer"])
def test_other_words_are_no_verdict(repo, word):
    repo.write("c.json", [{**CASE, "expected": word}])
    assert "is no verdict: write correct, partial or incorrect" in repo.error("c.json")


@pytest.mark.parametrize(
    ("field", "spelling"),
    [
        ("question", "input"), ("answer", "output"), ("answer", "actual_output"), ("answer", "studentAnswer"),
        ("answer", "student_answer"), ("answer", "completion"), ("expected", "expected_verdict"),
        ("expected", "verdict"), ("expected", "human_verdict"), ("expected", "label"),
    ],
)  # fmt: skip
def test_other_spellings(repo, field, spelling):
    plain = repo.case()
    assert repo.case(**{field: ..., spelling: CASE[field]}) == plain
    assert repo.case(**{spelling: CASE[field]}) == plain
    assert repo.case(**{spelling: None}) == plain


@pytest.mark.parametrize("spelling", ["expected_output", "modelAnswer", "model_answer", "ideal", "reference"])
def test_reference_spellings(repo, spelling):
    assert repo.case(**{spelling: "r"}).reference == "r"


def test_reference_may_be_absent_blank_or_a_list_of_one(repo):
    assert repo.case().reference is None
    assert repo.case(reference="  ").reference is None
    assert repo.case(ideal=["r"]).reference == "r"


def test_rubric_bench_set(repo):
    row = {
        "id": "1",
        "question": {"prompt": "p", "model_answer": "m", "rubric": [{"criterion": "c", "weight": 2}, "d"]},
        "answer": "a",
        "expected": "partial",
        "tags": ["t"],
    }
    repo.write("set.json", {"name": "set", "version": 1, "cases": [row]})
    (case,) = repo.load("set.json").cases
    assert (case.question, case.reference, case.expected) == ("p", "m", GradeVerdict.PARTIAL)
    assert case.rubric == Rubric(criteria=(Criterion(criterion="c", weight=2), Criterion(criterion="d")))


A = Criterion(criterion="a")


@pytest.mark.parametrize(
    ("rubric", "meant"),
    [
        ("text", Rubric(text="text")),
        (["a", {"criterion": "b", "weight": 0.5}], Rubric(criteria=(A, Criterion(criterion="b", weight=0.5)))),
        ({"text": "t", "criteria": ["a"]}, Rubric(text="t", criteria=(A,))),
        ({"criteria": ["a"]}, Rubric(criteria=(A,))),
        ({"file": "r.md"}, Rubric(text="from file", path="r.md")),
        ({"file": "./x/../r.md"}, Rubric(text="from file", path="r.md")),
    ],
)  # fmt: skip
def test_rubric_forms(repo, rubric, meant):
    repo.write("r.md", "from file")
    assert repo.case(rubric=rubric).rubric == meant
    assert repo.ladder(rubric=rubric).rubric == meant


@pytest.mark.parametrize(
    ("sources", "meant"),
    [
        ({"a": "x"}, [("a", "x")]),
        (["x", "y"], [("1", "x"), ("2", "y")]),
        ([{"id": 7, "text": "x"}, {"id": "f", "file": "r.md"}], [("7", "x"), ("f", "from file")]),
    ],
)
def test_source_forms(repo, sources, meant):
    repo.write("r.md", "from file")
    assert repo.case(sources=sources).sources == tuple(SourceText(id=i, text=t) for i, t in meant)


@pytest.mark.parametrize(
    ("labels", "meant"),
    [
        ({"a": "pass", "b": None}, {"a": "correct", "b": None}),
        (["pass", None, "partial"], {"rater 1": "correct", "rater 2": None, "rater 3": "partial"}),
        ([{"rater": "a", "label": 0}, {"rater": "b", "verdict": 1}], {"a": "incorrect", "b": "correct"}),
        ("pass", {"rater 1": "correct"}),
    ],
)
def test_label_forms(repo, labels, meant):
    assert repo.case(labels=labels).labels == meant


def test_a_strict_majority_of_raters_is_the_verdict(repo):
    assert repo.case(expected=..., labels=["fail", "fail", "pass", None]).expected is GradeVerdict.INCORRECT
    assert repo.case(expected="pass", labels=["fail", "fail"]).expected is GradeVerdict.CORRECT
    repo.write("c.json", [{**CASE, "expected": None, "labels": ["fail", "pass", None]}])
    assert "raters have no strict majority (1 incorrect, 1 correct)" in repo.error("c.json")
    repo.write("c.json", [{**CASE, "expected": None, "labels": [None]}])
    assert "c.json:1: [0].expected: missing" in repo.error("c.json")


# ---------------------------------------------------------------- ladders


def test_rungs_without_levels_get_their_order(repo):
    ladder = repo.ladder()
    assert [(rung.level, rung.answer) for rung in ladder.rungs] == [(0, "bad"), (1, "better"), (2, "best")]


def test_rungs_are_sorted_by_level_and_keep_what_they_say(repo):
    rungs = [
        {"level": 2, "output": "c", "id": "C"},
        {"level": 0.5, "answer": "a", "defect": "no unit", "evidence": ["V"], "human_label": "wrong"},
        {"level": 2, "answer": "c"},
    ]
    ladder = repo.ladder(rungs=rungs, licence="MIT")
    assert [(r.level, r.answer, r.id, r.defect, r.evidence) for r in ladder.rungs] == [
        (0.5, "a", None, "no unit", ("V",)),
        (2, "c", "C", None, ()),
        (2, "c", None, None, ()),
    ]
    assert ladder.metadata == {"licence": "MIT", "rungs": [{"human_label": "wrong"}, {}, {}]}


@pytest.mark.parametrize(
    ("rungs", "said"),
    [
        (["one"], "[0].rungs: a ladder needs two rungs at least"),
        ([], "[0].rungs: a ladder needs two rungs"),
        ("text", "[0].rungs: must be a list of rungs"),
        ([{"level": 1, "answer": "a"}, {"level": 1, "answer": "b"}], "[0].rungs: all rungs have one level"),
        ([{"level": 1, "answer": "a"}, {"answer": "b"}], "[0].rungs[1].level: missing: give each rung a level"),
        (["a", "b", "a"], "[0].rungs[2].answer: the same answer stands on level 0"),
        ([{"level": "x", "answer": "a"}, "b"], "[0].rungs[0].level: must be a number"),
        ([{"level": True, "answer": "a"}, "b"], "[0].rungs[0].level: must be a number"),
        ([{"defect": "a"}, "b"], "[0].rungs[0].answer: missing"),
        ([{"answr": "a"}, "b"], "[0].rungs[0].answr: unknown key; did you mean `answer`?"),
        ([{"answer": "a", "id": "x"}, {"answer": "b", "id": "x"}], "[0].rungs[1].id: the id `x` stands twice"),
        ([1.5, "b"], "[0].rungs[0].answer: must be text: put it in quotes"),
    ],
)
def test_broken_ladders(repo, rungs, said):
    repo.write("l.json", [{**LADDER, "rungs": rungs}])
    assert f"l.json:1: {said}" in repo.error((), "l.json")


def test_rows_in_the_shape_of_published_sets(repo):
    shared = {"question": "Why?", "tags": ["set", "x"], "source": "a paper", "licence": "CC-BY-SA-3.0"}
    case = {
        "id": "set:Q-1.a",
        **shared,
        "reference": "r",
        "answer": "a",
        "human_verdict": "partial",
        "human_label": "p_i",
    }
    rungs = [{"level": n // 2, "answer": f"a{n}", "human_label": "x", "id": f"i{n}"} for n in range(4)]
    ladder = {"id": "ladder:1", **shared, "reference": None, "rungs": rungs, "order": "score must not fall"}
    pair = {"id": "pair:1", **shared, "reference": None, "rungs": [{"level": n, "answer": f"{n}"} for n in (0, 1)]}
    repo.write("c.jsonl", json.dumps(case)).write("l.jsonl", f"{json.dumps(ladder)}\n{json.dumps(pair)}\n")
    suite = repo.load("c.jsonl", "l.jsonl")
    assert suite.cases[0].expected is GradeVerdict.PARTIAL
    assert suite.cases[0].metadata == {"human_label": "p_i", "licence": "CC-BY-SA-3.0"}
    assert [rung.level for rung in suite.ladders[0].rungs] == [0, 0, 1, 1]
    assert suite.ladders[0].metadata["order"] == "score must not fall"
    assert [(one.reference, one.location.line) for one in suite.ladders] == [(None, 1), (None, 2)]


def test_one_file_may_hold_both(repo):
    repo.write("both.json", {"cases": [CASE], "ladders": [LADDER], "defaults": {"tags": "t", "split": "golden"}})
    suite = repo.load("both.json", "both.json")
    assert [c.tags for c in (*suite.cases, *suite.ladders)] == [("t",), ("t",)]
    assert (len(suite.cases), len(suite.ladders), suite.cases[0].split) == (1, 1, "golden")
    assert repo.tree.reads["both.json"] == 1
    repo.write("list.json", [CASE, LADDER])
    suite = repo.load("list.json", "list.json")
    assert (len(suite.cases), len(suite.ladders)) == (1, 1)
    assert "list.json:1: [1].rungs: this is a ladder, not a case" in repo.error("list.json")
    assert "list.json:1: [0].answer: unknown key" in repo.error((), "list.json")


# ---------------------------------------------------------------- mistakes


HEAD = "- id: one\n  question: q\n  answer: a\n  expected: correct\n"


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        ("  verdict: incorrect\n", "5: [0].verdict: disagrees with `expected` on line 4: both mean `expected`"),
        ("  input: other\n", "5: [0].input: disagrees with `question` on line 2"),
        ("  answr: a\n", "5: [0].answr: unknown key; did you mean `answer`?"),
        ("  tags: [a, 1.5]\n", "5: [0].tags[1]: must be text: put it in quotes"),
        ("  tags: [a, ' ']\n", "5: [0].tags: a tag is blank"),
        ("  rubric:\n    file: none.md\n", "6: [0].rubric.file: cannot read it: none.md: no such file"),
        ("  rubric: {file: ../up.md}\n", "5: [0].rubric.file: `../up.md` lies outside the repository"),
        ("  rubric: {file: /etc/passwd}\n", "5: [0].rubric.file: `/etc/passwd` lies outside the repository"),
        ("  rubric: {file: 'C:\\x'}\n", "5: [0].rubric.file: `C:\\x` lies outside the repository"),
        ("  rubric: {file: link.md}\n", "5: [0].rubric.file: cannot read it: link.md: a symbolic link"),
        ("  rubric: {file: latin.md}\n", "5: [0].rubric.file: latin.md (line 2): byte 0xe9 is not UTF-8"),
        ("  rubric: {file: big.md}\n", "5: [0].rubric.file: big.md: the file has 2.1 MB, the limit is 2 MB"),
        ("  rubric: {file: blank.md}\n", "5: [0].rubric: blank.md is empty"),
        ("  rubric: {file: r.md, text: x}\n", "5: [0].rubric.text: unknown key"),
        ("  rubric: {file: 3}\n", "5: [0].rubric.file: must name a file"),
        ("  rubric: {}\n", "5: [0].rubric: is empty"),
        ("  rubric: ''\n", "5: [0].rubric: is empty"),
        ("  rubric: []\n", "5: [0].rubric: must be a list of criteria"),
        ("  rubric:\n  - criterion: x\n    weight: 0\n", "7: [0].rubric[0].weight: must be a number above 0"),
        ("  rubric:\n  - wight: 2\n    criterion: x\n", "6: [0].rubric[0].wight: unknown key"),
        ("  rubric: {criteria: x}\n", "5: [0].rubric.criteria: must be a list"),
        ("  reference: [a, b]\n", "5: [0].reference: must be one text"),
        ("  reference: 1.50\n", "5: [0].reference: must be text: put it in quotes"),
        ("  tolerance: wide\n", "5: [0].tolerance: must be a number"),
        ("  tolerance: -1\n", "5: [0].tolerance: must not be negative"),
        ("  labels: {a: dunno}\n", "5: [0].labels.a: `dunno` is no verdict"),
        ("  labels: [{rater: a, label: 1}, {rater: a, label: 0}]\n", "5: [0].labels[1]: the rater `a` stands twice"),
        ("  sources: [{id: a, text: x}, {id: a, text: y}]\n", "5: [0].sources[1]: the id `a` stands twice"),
        ("  sources: [{id: a}]\n", "5: [0].sources[0]: give `text` or `file`"),
        ("  metadata: 3\n", "5: [0].metadata: must be a mapping"),
        ("- id: one\n  question: q\n  answer: b\n  expected: 0\n", ("5: [1].id: the case id `one` stands twice, first "
         "in c.yml:1: rename one")),
        ("- question: q\n", "5: [1].id: missing"),
        ("- id: ' x'\n", "5: [1].id: must be one line"),
        ("- id: 1.0\n", "5: [1].id: must be text: put it in quotes"),
        ("- id: two\n  question: ' '\n  answer: a\n", "6: [1].question: missing"),
        ("- id: two\n  question: q\n", "5: [1].answer: missing"),
        ("- id: two\n  question: {prompt: q, modl: x}\n  answer: a\n", "6: [1].question.modl: unknown key"),
        ("- id: two\n  question: [q]\n  answer: a\n", "6: [1].question: must be text, or `{file: PATH}`"),
        ("- id: two\n  question: q\n  answer: a\n", "5: [1].expected: missing"),
        ("- just text\n", "5: [1]: must be a mapping"),
    ],
)  # fmt: skip
def test_one_clear_line(repo, tail, said):
    repo.write("r.md", "x").write("blank.md", "\n").write("latin.md", b"a\ncaf\xe9\n").write("big.md", "x" * 2_100_000)
    (repo.root / "link.md").symlink_to("r.md")
    assert repo.yaml_error(HEAD + tail).startswith(f"c.yml:{said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "c.yml:1: the file is empty"),
        ("3\n", "c.yml:1: the file must be a list"),
        ("a: 1\n", "c.yml:1: a: unknown key at the top of the file"),
        ("name: x\nid: one\n", "c.yml:2: id: unknown key at the top of the file; one entry still needs a list"),
        ("name: x\n", "c.yml:1: the file has neither `cases:` nor `ladders:`"),
        ("\ncases: {a: 1}\n", "c.yml:2: cases: must be a list of cases"),
        ("cases: []\ndefaults: 3\n", "c.yml:2: defaults: must be a mapping"),
        ("defaults:\n  tgas: x\ncases: []\n", "c.yml:2: defaults.tgas: unknown key; did you mean `tags`?"),
        ("defaults:\n  id: x\ncases: []\n", "c.yml:2: defaults.id: belongs to each entry"),
        ("- id: [\n", "c.yml:2: not valid YAML"),
        ("- id: a\n  id: b\n", "c.yml:2: [0].id: the key stands twice, first on line 1"),
    ],
)
def test_broken_files(repo, text, said):
    assert repo.yaml_error(text).startswith(said)


def test_an_empty_suite_is_an_error_at_the_configuration(repo):
    repo.write(".grader-gate.yml", "suites:\n  s:\n    cases: [c.json,\n      none/*.yml]\n").write("c.json", [])
    assert repo.error("c.json").startswith(".grader-gate.yml:2: suites.s: the suite is empty")
    assert repo.error(("c.json", "none/*.yml")).startswith(
        ".grader-gate.yml:4: suites.s.cases[1]: `none/*.yml` matches no file"
    )
    (repo.root / "link.json").symlink_to("c.json")
    assert ": suites.s.cases: link.json: a symbolic link" in repo.error("link.json")


def test_a_large_file_and_an_alias_bomb(repo):
    assert repo.write("c.json", b" " * 50_000_000).error("c.json") == (
        "c.json: the file has 50.0 MB, the limit is 20 MB per file: split it into several"
    )
    lines = ["- &a [" + ", ".join(["x"] * 20) + "]"]
    lines += [f"- &{n} [" + ", ".join([f"*{m}"] * 20) + "]" for m, n in zip("abcdef", "bcdefg", strict=True)]
    assert "the aliases of this file stand for more than 20 million" in repo.yaml_error("\n".join(lines))


def test_ids_are_unique_over_files_but_not_between_cases_and_ladders(repo):
    repo.write("a.json", [CASE]).write("b.json", [{**CASE, "question": "other"}])
    assert repo.error(("a.json", "b.json")) == (
        "b.json:1: [0].id: the case id `a` stands twice, first in a.json:1: rename one"
    )
    repo.write("l.json", [{**LADDER, "id": "a"}])
    assert len(repo.load("a.json", "l.json").ladders) == 1


def test_overlapping_globs_name_a_file_once(repo):
    repo.write("x/a.json", [CASE])
    assert len(repo.load(("x/*.json", "**/a.json")).cases) == 1


def test_suites_share_files(repo):
    repo.write("a.json", [{**CASE, "rubric": {"file": "r.md"}}]).write("r.md", "x")
    config = Config.model_validate(
        {
            "graders": {"g": {"kind": "checks", "checks": [{"type": "json"}]}},
            "suites": {"one": {"grader": "g", "cases": "a.json"}, "two": {"grader": "g", "cases": "*.json"}},
        }
    )
    suites = load_suites(repo.tree, config)
    assert list(suites) == ["one", "two"]
    assert suites["one"].cases == suites["two"].cases
    assert suites["two"].files == ("a.json", "r.md")
    assert set(repo.tree.reads.values()) == {1}


NAMES = st.text("abc", min_size=1, max_size=3)


@given(st.lists(NAMES, min_size=1, max_size=8, unique=True), st.data())
@settings(max_examples=40, deadline=None)
def test_splitting_and_permuting_files_keeps_the_cases(tmp_path_factory, ids, data):
    rows = [{**CASE, "id": name, "answer": name} for name in ids]
    shuffled = data.draw(st.permutations(rows))
    cut = data.draw(st.integers(0, len(rows)))
    repo = Repo(tmp_path_factory.mktemp("split"))
    repo.write("one.json", rows).write("parts/a.json", shuffled[:cut])
    repo.write("parts/b.jsonl", "\n".join(json.dumps(row) for row in shuffled[cut:]))
    whole = {case.id: case.content_digest for case in repo.load("one.json").cases}
    parts = {case.id: case.content_digest for case in repo.load("parts/*").cases}
    assert parts == whole


def test_the_collector_runs_again_after_success_and_error(repo):
    assert gc.isenabled()
    repo.case()
    assert gc.isenabled()
    repo.write("c.json", [{}]).error("c.json")
    assert gc.isenabled()
