"""Hostile strings as everything a team writes, through a real run and into every file it leaves."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

from grader_gate.report.html import render_html
from grader_gate.result import Result
from tests.flow.repository import CONFIG, Repository
from tests.security.hostile import CURATED, HOSTILE
from tests.security.reading import HIDDEN, commands, linked, page_of

JUDGE = '''
"""Head says the opposite of what is expected, in hostile words."""
import json

WORDS = json.loads(open(__file__.replace("judge.py", "words.json")).read())
STRICT = False


def grade(question, reference, rubric, answer, seed):
    word = WORDS[len(answer) % len(WORDS)]
    number = int(answer.rsplit(" ", 1)[-1])
    if STRICT and number % 9 == 4:
        raise ValueError(word)
    if STRICT and number % 9 == 6:
        return {"verdict": word}
    return {"verdict": "incorrect" if STRICT else "correct", "reason": word + WORDS[number % len(WORDS)], "citations": [word],
            "checks": [{"name": word or "x", "passed": not STRICT, "detail": word}]}
'''
USABLE = [text for text in HOSTILE if not any(0xD800 <= ord(c) <= 0xDFFF for c in text)]
"""YAML and JSON files in UTF-8 cannot hold half a surrogate pair; a model's reply can, and does in other tests."""


def case(index, text, **more):
    return {"id": f"c{index}", "question": f"Q {text}", "reference": text or "r", "answer": f"{text} {index}",
            "expected": "correct", "tags": ["t", f"g{index % 3}"], **more}  # fmt: skip


def write(repo, cases, strict):
    return repo.commit(
        {
            ".grader-gate.yml": CONFIG.replace("mutators: none", "mutators: {use: default, per_mutator: 3}").replace(
                'cases: "cases/*.yaml", ladders: "ladders/*.yaml"', 'cases: "cases/*.json"'
            )
            + "report: {quote: full}\n",
            "rubric.md": "any words\n",
            "cases/all.json": json.dumps({"cases": cases}),
            "code/judge.py": JUDGE.replace("STRICT = False", f"STRICT = {strict}"),
            "code/words.json": json.dumps(CURATED),
        }
    )


def assert_inert(ran):
    comment = (ran.folder / "comment.md").read_text("utf-8")
    body = comment.partition("\n")[2]
    assert linked(body) == []
    assert not HIDDEN.search(body.replace("\t", ""))
    assert {t for t in page_of(body).tags if "." in t} <= {"details.open"}
    assert not {"img", "script", "iframe", "svg", "form", "input"} & set(page_of(body).tags)
    for text in (ran.out, ran.err):
        assert commands(text) == []
        assert not HIDDEN.search(text.replace("\t", ""))
    page = (ran.folder / "report.html").read_text("utf-8")
    assert page == render_html(Result.model_validate(ran.result))
    assert page.count("<script") == 1
    assert not re.search(r"<(?:img|svg|iframe|object|base|form)\b", page)
    ET.fromstring((ran.folder / "junit.xml").read_bytes())
    raw = (ran.folder / "ledger.jsonl").read_text("utf-8")
    assert all(json.loads(line)["grade"] is not None for line in raw.rstrip("\n").split("\n"))


@pytest.mark.parametrize("part", range(4))
def test_as_questions_references_answers_and_reasons(tmp_path, capsys, part):
    repo = Repository(tmp_path / "repo", capsys)
    cases = [case(index, text) for index, text in enumerate(USABLE[part::4][:90])]
    base = write(repo, cases, strict=False)
    write(repo, cases, strict=True)
    ran = repo.check(base=base)
    assert ran.code == 1, ran.err
    assert len(ran.findings("regression")) >= 50
    assert_inert(ran)


def test_as_ids_and_tags_where_the_format_allows_them(tmp_path, capsys):
    """An id that the format refuses is one clear line; one that it takes goes everywhere, and nowhere comes alive."""
    repo = Repository(tmp_path / "repo", capsys)
    taken = []
    base = write(repo, [case(0, "plain")], strict=False)
    for text in CURATED[::4]:
        if any(0xD800 <= ord(c) <= 0xDFFF for c in text):
            continue
        write(repo, [case(0, "plain"), case(1, "x", id=text)], strict=False)
        ran = repo.gate("plan", "HEAD")
        if ran.code == 0:
            taken.append(text)
        else:
            assert ran.code == 2
            assert all(line.startswith("grader-gate: cases/all.json:") for line in ran.err.splitlines()), ran.err
            assert commands(ran.err) == []
            assert not HIDDEN.search(ran.err)
    cases = [case(n, "plain", id=text, tags=[text]) for n, text in enumerate(taken)] or [case(0, "plain")]
    base = write(repo, cases, strict=False)
    write(repo, cases, strict=True)
    ran = repo.check(base=base)
    assert ran.code in (1, 2)
    if ran.code == 1:
        assert_inert(ran)


KEYS = [
    "{}: 1",
    "version: {}",
    "graders: {{{}: {{kind: chat}}}}",
    "graders: {{j: {{kind: {}}}}}",
    "suites: {{{}: {{grader: j}}}}",
    "providers: {{p: {{base_url: {}}}}}",
    "policy: {{kill_rate: {{{}: 0.5}}}}",
]


@pytest.mark.parametrize("where", KEYS)
def test_as_keys_and_values_of_the_configuration(tmp_path, capsys, where):
    repo = Repository(tmp_path / "repo", capsys)
    for text in CURATED[:: len(KEYS) * 2]:
        repo.commit({".grader-gate.yml": where.format(json.dumps(text)) + "\n"})
        ran = repo.gate("plan", "HEAD")
        assert ran.code == 2, (text, ran.out)
        lines = ran.err.splitlines()
        assert all(line.startswith("grader-gate: .grader-gate.yml:") for line in lines), ran.err
        assert 1 <= len(lines) <= 8
        assert commands(ran.err) == []
        assert not HIDDEN.search(ran.err)
        assert max(map(len, lines)) < 2_200
