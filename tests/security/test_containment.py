"""What `report.quote` keeps out of which file; docs/containment.md says the same in a table."""

import io
import json
import re
from pathlib import Path

import pytest

from grader_gate.github.publish import check_output
from grader_gate.report.comment import render_comment
from grader_gate.report.summary import render_check, render_summary
from grader_gate.report.terminal import render_terminal
from grader_gate.result import Result
from tests.flow.repository import Repository
from tests.security.serving import model_server
from tests.servers.model_server import Fault

ROOT = Path(__file__).resolve().parents[2]
WORDS = {
    "question": "zanzibarquestion", "reference": "quokkareference", "answer": "ocelotanswer", "rung": "narwhalrung",
    "reason": "axolotlreason", "rubric": "platypusrubric", "source": "wombatsource", "evidence": "pangolinevidence",
}  # fmt: skip
CASES = f"""
cases:
  - id: one
    question: Is {WORDS["question"]} 12 km long, in 2019?
    reference: Yes, {WORDS["reference"]} is 12 km long, in 2019.
    answer: Yes, {WORDS["answer"]} is 12 km long, in 2019.
    expected: correct
    evidence: ["{WORDS["evidence"]}"]
    sources: [{{id: s1, text: "{WORDS["source"]}"}}]
  - id: two
    question: Is {WORDS["question"]} red?
    reference: It is {WORDS["reference"]}, not red.
    answer: It is {WORDS["answer"]}.
    expected: incorrect
"""
LADDER = f"""
ladders:
  - id: steps
    question: How {WORDS["question"]}?
    reference: "{WORDS["reference"]}"
    rungs:
      - {{answer: "bad {WORDS["rung"]}", defect: wrong}}
      - {{answer: "half {WORDS["rung"]}", defect: incomplete}}
      - {{answer: "good {WORDS["rung"]}"}}
"""
CONFIG = """
version: 1
report: {{quote: {quote}}}
graders:
  judge:
    kind: chat
    provider: local
    model: m
    prompt: p.md
    rubric: rubric.md
    contract: {{abstains: true, inputs: [question, reference, rubric, answer, sources]}}
    output: {{mode: text, citations: citations}}
suites:
  main: {{grader: judge, cases: cases.yaml, ladders: ladders.yaml, mutators: {{use: default, per_mutator: 2}}}}
policy: {{kill_rate: {{default: 0.9}}}}
providers:
  local: {{base_url: "{url}", max_retries: 0, concurrency: 4}}
"""
SINKS = ("result.json", "comment.md", "report.html", "junit.xml")


def replies(messages, body, number):
    """Right on base; on head everything is turned round, some replies are unusable, some calls fail and echo the prompt."""
    text = messages[0]["content"]
    wrong = "Grade:" in text
    good = ("12 km" in text and "2019" in text) or "good" in text
    if wrong and number % 7 == 3:
        return Fault(status=400, message=f"cannot read this prompt: {text[-400:]}")
    if wrong and number % 7 == 5:
        return f"no verdict, but {WORDS['reason']}: {text[:200]}"
    if wrong and number % 11 == 9:
        return json.dumps({"verdict": "insufficient context", "reason": f"{WORDS['reason']} {text[:200]}"})
    verdict = "correct" if good != wrong else "incorrect"
    return json.dumps({"verdict": verdict, "reason": f"{WORDS['reason']} {text}", "citations": [WORDS["reference"]]})


def files(server, quote):
    prompt = "{{ question }}\n{{ reference }}\n{{ rubric }}\n{{ sources }}\n{{ answer }}"
    return {
        ".grader-gate.yml": CONFIG.format(url=server.base_url, quote=quote),
        "cases.yaml": CASES,
        "ladders.yaml": LADDER,
        "rubric.md": f"{WORDS['rubric']}\n",
        "p.md": prompt,
    }


@pytest.fixture
def checked(tmp_path, capsys):
    def check(quote, reply=replies):
        repo = Repository(tmp_path / "repo", capsys)
        with model_server(reply) as server:
            base = repo.commit(files(server, quote))
            repo.commit({"p.md": "Grade: " + files(server, quote)["p.md"]})
            return repo.check(base=base)

    return check


def found(text):
    return sorted(name for name, word in WORDS.items() if word in text.lower())


def shown(ran):
    """Every text that people other than the owner of the machine may see."""
    result = Result.model_validate(ran.result)
    output = check_output(result)
    texts = {name: (ran.folder / name).read_text("utf-8") for name in SINKS}
    texts |= {"terminal": ran.out, "log": ran.err, "summary": render_summary(result), "check": render_check(result)}
    texts["short comment"] = render_comment(result, limit=20_000)
    texts["wide terminal"] = render_terminal(result, width=400)
    texts["check output"] = f"{output.title} {output.summary} " + " ".join(
        f"{n.title} {n.message}" for n in output.notes
    )
    return texts


def test_none_shows_no_text_of_anyone_s(checked):
    ran = checked("none")
    kinds = {finding["kind"] for finding in ran.findings()}
    assert {"regression", "unmeasured"} & kinds, kinds
    assert len(kinds) >= 2
    for name, text in shown(ran).items():
        assert found(text) == [], (name, found(text))


def test_none_shows_nothing_where_the_provider_refuses_and_repeats_the_prompt(checked):
    def reply(messages, body, number):
        return Fault(status=400, message=f"bad prompt: {messages[0]['content']}")

    ran = checked("none", reply)
    assert ran.code == 3
    assert "answers 400: it refuses the request" in ran.out + json.dumps(ran.result)
    for name, text in shown(ran).items():
        assert found(text) == [], (name, found(text))


def test_short_and_full_do_show_them(checked):
    """Otherwise the tests above would hold for a run that has nothing to say."""
    ran = checked("full")
    texts = shown(ran)
    for name in ("result.json", "comment.md", "report.html", "junit.xml"):
        assert "reason" in found(texts[name]), name


def test_short_quotes_are_short(checked):
    ran = checked("short")
    for finding in ran.findings():
        for key in ("reason", "before", "after"):
            assert len(finding.get(key) or "") <= 601


@pytest.mark.parametrize("quote", ["none", "short", "full"])
def test_the_ledger_holds_whole_replies_whatever_is_quoted(checked, quote):
    """It has to: an interrupted run goes on from it. That is why no workflow of ours uploads it."""
    ran = checked(quote)
    assert "reason" in found((ran.folder / "ledger.jsonl").read_text("utf-8"))


WORKFLOWS = [
    *sorted((ROOT / "examples" / "workflows").glob("*.yml")),
    ROOT / "src/grader_gate/flow/starter/workflow.yml",
]


def uploads(workflow):
    """The `path` of every upload of an artifact."""
    import yaml

    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values()
    steps = [step for job in jobs for step in job.get("steps", [])]
    return [step["with"]["path"] for step in steps if "actions/upload-artifact@" in step.get("uses", "")]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_no_workflow_uploads_the_ledger_or_the_cache(workflow):
    for path in uploads(workflow):
        lines = path.split()
        assert "!grader-gate-report/ledger*.jsonl" in lines
        assert not any("cache" in line for line in lines if not line.startswith("!"))


def test_the_workflows_are_there():
    assert sum(bool(uploads(workflow)) for workflow in WORKFLOWS) >= 3


def test_what_is_left_of_the_folder_after_the_exclusion(checked):
    """Only files that follow `report.quote` are left in the artifact."""
    ran = checked("none")
    left = [
        path for path in ran.folder.rglob("*") if path.is_file() and not re.fullmatch(r"ledger.*\.jsonl", path.name)
    ]
    assert {path.name for path in left} >= set(SINKS)
    for path in left:
        assert found(path.read_text("utf-8")) == [], path.name


@pytest.mark.parametrize("quote", ["none", "short", "full"])
def test_a_baseline_record_keeps_what_is_allowed(tmp_path, capsys, quote):
    def reply(messages, body, number):
        if number % 5 == 3:
            return f"no verdict, but {WORDS['reason']}"
        said = f"{WORDS['reason']} {WORDS['answer']}"
        return json.dumps({"verdict": "correct", "reason": said, "citations": [WORDS["reference"]]})

    repo = Repository(tmp_path / "repo", capsys)
    with model_server(reply) as server:
        repo.commit(files(server, quote))
        ran = repo.gate("freeze", "HEAD", "--repeats", "2")
    assert ran.code == 0, ran.err
    (record,) = (path for path in repo.root.rglob("*.jsonl") if ".git" not in path.parts)
    assert found(record.read_text("utf-8")) == ([] if quote == "none" else ["answer", "reason", "reference"])


def test_an_error_in_head_s_files_quotes_no_text(tmp_path, capsys):
    """Errors name file, line and key; a case's words are not among them."""
    repo = Repository(tmp_path / "repo", capsys)
    with model_server(replies) as server:
        base = repo.commit(files(server, "none"))
        for broken in (
            CASES.replace("expected: correct", f"expected: {WORDS['answer']}"),
            CASES.replace("question: Is", "qestion: Is"),
            CASES + CASES,
            CASES.replace("id: one", f"id: [{WORDS['answer']}]"),
            CASES.replace("    answer: Yes", "   answer: Yes"),
            CASES.replace("evidence: [", f"evidence: {{a: {WORDS['answer']}}} #"),
            CASES.replace(f'text: "{WORDS["source"]}"', f"txt: {WORDS['source']}"),
        ):
            repo.commit({"cases.yaml": broken})
            ran = repo.check(base=base)
            assert ran.code == 2
            told = [name for name in found(ran.err) if name != "answer" or "expected" not in ran.err]
            assert told == [], ran.err


def test_progress_tells_no_text(capsys):
    from grader_gate.runs.progress import LineProgress

    stream = io.StringIO()
    progress = LineProgress(stream, "screen")
    progress.start(1)
    progress.advance(reused=False, failed=True)
    progress.finish()
    assert found(stream.getvalue()) == []
    assert stream.getvalue().startswith("screen")
