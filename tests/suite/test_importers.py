"""Other tools' files: what becomes a case, what is left out and why, and that no row is lost."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader_gate.config import SuiteConfig
from grader_gate.errors import LocatedError
from grader_gate.suite.importers.base import ImportFileError, Skipped, to_jsonl
from grader_gate.suite.importers.registry import FORMATS, UnknownFormat, importer
from grader_gate.suite.load import load_suite
from tests.support import DirTree


def run(tool: str, value, name: str = "in.json"):
    data = (
        value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode()
    )
    return importer(tool)(data, name)


def reload(tmp_path, imported):
    """The imported cases and ladders as our loader reads them back."""
    (tmp_path / "c.jsonl").write_text(to_jsonl(imported.cases), encoding="utf-8")
    (tmp_path / "l.jsonl").write_text(to_jsonl(imported.ladders), encoding="utf-8")
    return load_suite(DirTree(tmp_path), "s", SuiteConfig(grader="g", cases="c.jsonl", ladders="l.jsonl"))


def reasons(imported):
    return {skipped.row: skipped.reason for skipped in imported.skipped}


PROMPTFOO = """\
prompts: [p.txt]
defaultTest:
  vars: {rubric: be strict}
  metadata: {split: golden, team: x}
tests:
  - description: labelled
    vars: {question: q1, reference: r1, topic: math}
    providerOutput: a1
    metadata: {expected_label: pass, testCaseId: T1, tags: [a, b]}
  - vars: {input: q2, answer: a2, rubric: own}
    assert: [{type: equals, value: incorrect}, {type: javascript, value: 'true'}]
  - vars: {question: q3}
    providerOutput: a3
    assert: [{type: llm-rubric, value: good?}]
  - vars: {question: q4}
    metadata: {expected_label: fail}
  - vars: {question: q5, input: other, answer: a}
    metadata: {expected_label: fail}
  - vars: {question: q6, answer: a}
    metadata: {expected_label: sometimes}
  - vars: {question: q7, answer: a}
    metadata: {expected_label: pass, label: fail}
  - vars: {question: q1, answer: a}
    metadata: {expected_label: pass, testCaseId: T1}
scenarios: [{config: []}]
"""


def test_promptfoo_yaml(tmp_path):
    imported = run("promptfoo", PROMPTFOO, "promptfooconfig.yaml")
    one, two = imported.cases
    assert one == {
        "id": "T1", "question": "q1", "reference": "r1", "rubric": "be strict", "tags": ["a", "b"], "split": "golden",
        "answer": "a1", "expected": "correct",
        "metadata": {"team": "x", "testCaseId": "T1", "description": "labelled", "vars": {"topic": "math"}},
    }  # fmt: skip
    assert two["id"].startswith("promptfoo-")
    assert (two["expected"], two["rubric"]) == ("incorrect", "own")
    assert {row: reason.split(" (")[0] for row, reason in reasons(imported).items()} == {
        3: "no human verdict",
        4: "no answer to grade",
        5: "the question could be any of `question`, `input`",
        6: "the label 'sometimes' is no verdict: correct, partial, incorrect, pass or fail",
        7: "the labels `expected_label`, `label` disagree",
        8: "the id 'T1' stands in row 1 already",
        9: "`scenarios` are not imported: write them out as tests",
    }
    assert [case.expected for case in reload(tmp_path, imported).cases] == ["correct", "incorrect"]


def test_promptfoo_csv(tmp_path):
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(
        [
            "question",
            "answer",
            "__expected",
            "__expected2",
            "__description",
            "__metadata:tags[]",
            "__metadata:label",
            "__providerOutput",
        ]
    )
    writer.writerow(["q, 1", "a\nb", "equals:correct", "grade:is polite", "d", "x, y", "", ""])
    writer.writerow(["q2", "", "contains-any:a,b", "", "", "", "fail", "out"])
    writer.writerow(["q3", "a", "contains(0.5):correct", "", "", "", "", ""])
    imported = run("promptfoo", table.getvalue(), "tests.csv")
    one, two = imported.cases
    assert (one["question"], one["answer"], one["expected"], one["tags"]) == ("q, 1", "a\nb", "correct", ["x", "y"])
    assert (one["rubric"], one["metadata"]) == (["is polite"], {"description": "d"})
    assert (two["answer"], two["expected"]) == ("out", "incorrect")
    assert list(reasons(imported)) == [3]
    assert len(reload(tmp_path, imported).cases) == 2


def test_promptfoo_results_take_a_persons_rating_only():
    def row(question, **more):
        return {"vars": {"question": question}, "response": {"output": "a"}, "success": True, **more}

    human = {
        "componentResults": [
            {"pass": True, "assertion": {"type": "llm-rubric"}},
            {"pass": False, "assertion": {"type": "human"}},
        ]
    }
    rows = [row("q1", gradingResult=human), row("q2", gradingResult={"pass": True}), row("q3", failureReason=2)]
    imported = run("promptfoo", {"results": {"results": rows, "stats": {}}})
    assert [(case["question"], case["expected"]) for case in imported.cases] == [("q1", "incorrect")]
    assert [reason[:16] for reason in reasons(imported).values()] == ["no human verdict", "the run had an e"]


def test_promptfoo_names_the_file_that_holds_the_tests():
    with pytest.raises(ImportFileError, match=r"import 'file://t\.csv' instead"):
        run("promptfoo", "tests: file://t.csv\n", "c.yaml")


def test_deepeval(tmp_path):
    rows = [
        {"input": "q", "actual_output": "a", "expected_output": "r", "context": ["c1"],
         "retrieval_context": ["c2", "c1"],
         "additional_metadata": {"expected_verdict": "fail", "k": 1}, "name": "n1", "source_file": "f.md"},
        {"scenario": "s", "turns": []},
        {"input": "q", "actual_output": "a", "success": True},
    ]  # fmt: skip
    imported = run("deepeval", rows)
    assert imported.cases == [
        {"id": "n1", "question": "q", "reference": "r", "sources": ["c2", "c1"], "source": "f.md", "answer": "a",
         "expected": "incorrect", "metadata": {"k": 1}}
    ]  # fmt: skip
    assert [reason.split(" (")[0] for reason in reasons(imported).values()] == [
        "a conversation of several turns has no single answer",
        "no human verdict",
    ]
    camel = [{"input": "q", "actualOutput": "a", "expectedOutput": "r", "metadata": {"label": 1}, "name": "n1"}]
    assert run("deepeval", {"testCases": camel}).cases[0]["reference"] == "r"
    table = 'input,actual_output,context,additional_metadata\nq,a,x|y,"{""label"": ""pass""}"\n'
    (case,) = run("deepeval", table, "d.csv").cases
    assert (case["sources"], case["expected"]) == (["x", "y"], "correct")
    assert [source.id for source in reload(tmp_path, imported).cases[0].sources] == ["1", "2"]


def test_openai_evals(tmp_path):
    chat = [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "q"}]}]
    rows = [
        {"input": chat, "ideal": ["r"], "completion": "a", "choice": "Y", "topic": "t"},
        {"input": [{"role": "user", "content": "q2"}], "ideal": "r", "completion": ["a"], "choice": "no"},
        {"input": "q", "completion": "a", "choice": "B"},
        {"input": "q", "ideal": ["r", "s"], "completion": "a", "choice": "Y"},
        {"input": [{"role": "user", "content": [{"type": "image_url"}]}], "completion": "a", "choice": "Y"},
        {"item": {"input": "q3", "ideal": "r", "label": "partial"}, "sample": {"output_text": "a"}},
    ]
    imported = run("openai-evals", "\n".join(map(json.dumps, rows)), "s.jsonl")
    assert [(c["question"], c["answer"], c["reference"], c["expected"]) for c in imported.cases] == [
        ("system: s\n\nuser: q", "a", "r", "correct"),
        ("q2", "a", "r", "incorrect"),
        ("q3", "a", "r", "partial"),
    ]
    assert imported.cases[0]["metadata"] == {"topic": "t"}
    assert [reason[:30] for reason in reasons(imported).values()] == [
        "the label 'B' is no verdict: c", "`ideal` holds 2 texts: which o", "the question holds something t",
    ]  # fmt: skip
    assert len(reload(tmp_path, imported).cases) == 3


INSPECT = [
    {"id": 7, "input": "q", "target": "r", "metadata": {"answer": "a", "label": "pass", "k": 1}},
    {"id": 8, "input": "q8", "target": ["r"], "output": {"choices": [{"message": {"content": "a8"}}]},
     "scores": {"human_grader": {"value": "P"}, "model_graded_qa": {"value": "C"}}},
    {"id": 9, "input": "q9", "target": "r", "output": {"completion": "a9"},
     "scores": {"model_graded_qa": {"value": "C"}}},
    {"id": 8, "epoch": 2, "input": "q8", "output": {"completion": "a"}},
    {"id": 10, "input": "q", "output": {"completion": "a"}, "scores": {"human": {"value": "N"}}},
]  # fmt: skip


def test_inspect(tmp_path):
    imported = run("inspect", {"samples": INSPECT})
    one, two = imported.cases
    assert (one["id"], one["answer"], one["expected"], one["metadata"]) == ("7", "a", "correct", {"k": 1})
    assert (two["id"], two["answer"], two["reference"], two["expected"]) == ("8", "a8", "r", "partial")
    assert [reason[:16] for reason in reasons(imported).values()] == [
        "no human verdict", "epoch 2 repeats ", "the label 'N' is",
    ]  # fmt: skip
    assert len(reload(tmp_path, imported).cases) == 2
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for number, sample in enumerate(INSPECT):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    assert run("inspect", packed.getvalue(), "log.eval") == imported


def test_inspect_refuses_a_bomb_and_a_broken_log():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"samples/{number}.json", b" " * 70_000_000)
    with pytest.raises(ImportFileError, match="more than 200 MB"):
        run("inspect", packed.getvalue(), "log.eval")
    with pytest.raises(ImportFileError, match=r"^log\.eval: not a readable log"):
        run("inspect", b"PK nonsense", "log.eval")


def test_langfuse(tmp_path):
    def score(word, **more):
        return {"name": "correctness", "stringValue": word, "source": "ANNOTATION", **more}

    rows = [
        {"id": "1", "input": {"question": "q"}, "output": "a", "expectedOutput": {"answer": "r"}, "datasetName": "d",
         "scores": [score("pass"), score("fail", source="EVAL")]},
        {"id": "2", "input": {"messages": [{"role": "user", "content": "q2"}]}, "output": {"role": "x", "content": "a"},
         "scores": [score("pass", authorUserId="u"), score("fail"), score("pass")]},
        {"id": "3", "input": "q", "output": "a", "scores": [score("pass", source="EVAL")]},
        {"id": "4", "input": "q", "output": "a", "scores": [score("pass"), score("fail", name="tone")]},
        {"id": "5", "input": "q", "output": "a", "status": "ARCHIVED"},
        {"id": "6", "input": "q", "output": "a", "scores": [score(None, value=0.3)]},
        {"id": "7", "input": "q", "output": "a", "scores": [score(None, value=0)]},
        {"id": "8", "input": {"a": 1, "b": 2}, "output": "a", "metadata": {"label": "pass"}},
    ]  # fmt: skip
    imported = run("langfuse", {"data": rows})
    assert [
        (c["id"], c["question"], c.get("reference"), c.get("expected"), c.get("labels")) for c in imported.cases
    ] == [
        ("1", "q", "r", "correct", None),
        ("2", "q2", None, None, {"u": "correct", "rater 2": "incorrect", "rater 3": "correct"}),
        ("7", "q", None, "incorrect", None),
    ]
    assert [reason[:20] for reason in reasons(imported).values()] == [
        "no human verdict (in", "people annotated cor", "the item is archived", "the annotation 0.3 i",
        "the question is no s",
    ]  # fmt: skip
    assert [case.expected for case in reload(tmp_path, imported).cases] == ["correct", "correct", "incorrect"]


def test_rubric_bench(tmp_path):
    question = {"prompt": "q", "modelAnswer": "r", "rubric": [{"criterion": "c", "weight": 2}]}
    rows = [
        {"id": "1", "question": question, "studentAnswer": "a", "expected": "partial", "tags": ["t"]},
        {"id": "2", "question": "q", "answer": "a", "expected_verdict": "correct"},
        {
            "id": "3",
            "question": {**question, "rubric": [{"criterion": "c", "weight": -1}]},
            "answer": "a",
            "expected": "correct",
        },
    ]
    imported = run("rubric-bench", {"name": "n", "cases": rows})
    assert imported.cases[0] == {
        "id": "1", "question": "q", "reference": "r", "rubric": [{"criterion": "c", "weight": 2}], "tags": ["t"],
        "answer": "a", "expected": "partial",
    }  # fmt: skip
    assert imported.skipped == [Skipped(3, "a criterion needs a text and a weight above 0")]
    assert len(reload(tmp_path, imported).cases) == 2


def test_judgegate_cases_and_comparisons(tmp_path):
    rows = [
        {"id": 1, "input": "q", "output": "a", "human_label": "pass", "judge_label": "fail"},
        {"id": 2, "input": "q", "output_a": "x", "output_b": "y", "human_label": "a", "judge_label": "b"},
        {"id": 3, "input": "q", "output_a": "x", "output_b": "y", "human_label": "tie"},
        {"id": 4, "input": "q", "label": 1},
        {"id": 5, "input": "q", "output": "a", "judge_label": "pass"},
        {"id": 6, "input": "q", "output_a": "x", "output_b": "x", "label": "b"},
    ]
    imported = run("judgegate", "\n".join(map(json.dumps, rows)), "j.jsonl")
    assert imported.cases == [
        {"id": "1", "question": "q", "answer": "a", "expected": "correct", "metadata": {"judge_label": "fail"}}
    ]
    (ladder,) = reload(tmp_path, imported).ladders
    assert [rung.answer for rung in ladder.rungs] == ["y", "x"]
    assert [reason[:24] for reason in reasons(imported).values()] == [
        "the label 'tie' prefers ", "no answer to grade", "no human verdict (in `ex", "both answers are the sam",
    ]  # fmt: skip


def test_ragas(tmp_path):
    table = "question,grading_notes,response,target\nq,notes,a,pass\nq2,,a,\n"
    imported = run("ragas", table, "align.csv")
    assert [(c["question"], c["rubric"], c["expected"]) for c in imported.cases] == [("q", "notes", "correct")]
    assert list(reasons(imported)) == [2]
    row = {
        "user_input": "q",
        "response": "a",
        "reference": "r",
        "label": 0,
        "rubrics": {"score2": "good", "score1": "bad"},
    }
    (case,) = run("ragas", [row]).cases
    assert (case["rubric"], case["expected"]) == ("score1: bad\nscore2: good", "incorrect")
    assert len(reload(tmp_path, imported).cases) == 1


def test_autoevals_and_braintrust(tmp_path):
    rows = [
        {"input": {"input": "q", "output": "a", "expected": "r"}, "expected": 0, "tags": ["t"]},
        {"id": "e", "input": {"question": "q"}, "output": "a", "expected": "r", "metadata": {"label": "pass"}},
        {"input": "q", "output": "a", "expected": "r", "scores": {"Factuality": 1}},
    ]
    imported = run("braintrust", rows)
    assert [(c["question"], c["answer"], c["reference"], c["expected"]) for c in imported.cases] == [
        ("q", "a", "r", "incorrect"),
        ("q", "a", "r", "correct"),
    ]
    assert list(reasons(imported)) == [3]
    assert run("autoevals", rows) == imported
    assert len(reload(tmp_path, imported).cases) == 2


def test_ids_from_content_stay_when_rows_move():
    rows = [{"input": f"q{n}", "output": "a", "label": "pass"} for n in range(3)]
    ids = {case["question"]: case["id"] for case in run("judgegate", rows).cases}
    moved = {case["question"]: case["id"] for case in run("judgegate", rows[::-1]).cases}
    assert ids == moved
    assert len(set(ids.values())) == 3


@pytest.mark.parametrize("tool", sorted(FORMATS))
@pytest.mark.parametrize(
    ("value", "name"), [("3", "x.json"), ("{}", "x.json"), ("a: [", "x.yaml"), ("", "x.csv"), ("a", "x.txt")]
)
def test_a_file_of_another_kind_is_one_clear_line(tool, value, name):
    with pytest.raises(LocatedError) as caught:
        run(tool, value, name)
    assert str(caught.value).startswith(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "part"),
    [("a,a\n1,2\n", "1: a: the column stands twice"), ("a\n1,2\n", "2: the row has more"), ('a\n"1', "not valid CSV")],
)
def test_broken_csv(text, part):
    with pytest.raises(ImportFileError) as caught:
        run("ragas", text, "x.csv")
    assert part in str(caught.value)


def test_unknown_format():
    with pytest.raises(UnknownFormat, match="did you mean `promptfoo`"):
        importer("promtfoo")


INNER_KEYS = (
    "question input prompt content role messages output answer label text rubric type value criterion weight choices"
    " message human name source"
)
ROW_KEYS = (
    "id question input output answer actual_output completion response label human_label expected metadata vars assert"
    " additional_metadata providerOutput scores choice ideal target tags output_a output_b user_input item sample"
    " rubric context testCase"
)
WORD = st.sampled_from(["q", "a", "pass", "fail", "correct", "a", "b", "", "Y", "C", "1"])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.floats(0, 1) | WORD,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(INNER_KEYS.split()), inner, max_size=3),
    max_leaves=6,
)
CHANGES = st.dictionaries(st.sampled_from(ROW_KEYS.split()), VALUE, max_size=3)
GOOD = {
    "braintrust": {"input": "q", "output": "a", "expected": "r", "metadata": {"label": "pass"}},
    "deepeval": {"input": "q", "actual_output": "a", "label": "pass"},
    "inspect": {"input": "q", "target": "r", "output": {"completion": "a"}, "metadata": {"label": 1}},
    "judgegate": {"input": "q", "output": "a", "human_label": "fail"},
    "langfuse": {"input": "q", "output": "a", "metadata": {"label": "pass"}},
    "openai-evals": {"input": "q", "completion": "a", "choice": "Y"},
    "promptfoo": {"vars": {"question": "q", "answer": "a"}, "metadata": {"label": "pass"}},
    "ragas": {"user_input": "q", "response": "a", "target": "pass"},
    "rubric-bench": {"question": "q", "answer": "a", "expected": "partial"},
}


@pytest.mark.parametrize("tool", sorted(GOOD))
@given(changes=st.lists(CHANGES, max_size=5), others=st.lists(VALUE, max_size=2))
@settings(max_examples=50, deadline=None)
def test_every_row_is_a_case_a_ladder_or_skipped_and_cases_load(tool, changes, others, tmp_path_factory):
    texts = json.dumps(GOOD[tool])
    rows = [
        {**json.loads(texts.replace('"q"', f'"q{n}"')), **change} for n, change in enumerate([{}, *changes])
    ] + others
    imported = run(tool, rows)
    assert len(imported.cases) + len(imported.ladders) + len(imported.skipped) == len(rows)
    assert [skipped.row for skipped in imported.skipped] == sorted({skipped.row for skipped in imported.skipped})
    assert imported.cases
    suite = reload(tmp_path_factory.mktemp("i"), imported)
    assert [case.id for case in suite.cases] == [case["id"] for case in imported.cases]
    assert [case.answer for case in suite.cases] == [case["answer"] for case in imported.cases]
