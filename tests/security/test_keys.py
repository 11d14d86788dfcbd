"""No key in anything a run leaves, in whatever form a provider or a program sends it back."""

import base64
import json
import re
import sqlite3
from urllib.parse import quote

import pytest

from grader_gate.errors import ExitCode
from tests.flow.repository import Repository
from tests.security.serving import model_server
from tests.servers.model_server import Fault

KEYS = {
    "openai": "sk-proj-Zx81QwErTy72UiOpAs63DfGh",
    "slashes": "aB3/cD4+eF5=gH6/iJ7+kL8==mN9oPq",
    "short": "k3y-0nly9",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI5OTg4NzcifQ.Zm9vYmFyYmF6cXV4MTIzNDU2",
    "quotes": "p@ss\"w0rd'&<x>{y}|z#12$34%56",
}
ECHOES = {
    "raw": lambda key: key,
    "in a header": lambda key: f"Authorization: Bearer {key}",
    "beginning and end": lambda key: f"Incorrect key provided: {key[:12]}…{key[-10:]}",
    "url": lambda key: f"https://h/?key={quote(key, safe='')}",
    "base64": lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
    "base64 in lines": lambda key: base64.encodebytes(f"Authorization: Basic user:{key}".encode() * 2).decode(),
    "hex": lambda key: key.encode().hex(),
    "upper hex": lambda key: key.encode().hex().upper(),
    "backwards": lambda key: key[::-1],
    "upper case": lambda key: key.upper(),
    "two lines": lambda key: f"{key[: len(key) // 2]}\n{key[len(key) // 2 :]}",
    "spaced": lambda key: " ".join(key),
    "quoted pieces": lambda key: '" + "'.join(key[i : i + 5] for i in range(0, len(key), 5)),
    "zero width": lambda key: "\u200b".join(key),
    "JSON": lambda key: json.dumps({"k": key}),
    "JSON, slashes escaped": lambda key: json.dumps(key).replace("/", "\\/"),
    "HTML": lambda key: key.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"),
}
CONFIG = """
version: 1
concurrency: 2
report: {{quote: full}}
graders:
  judge: {{kind: chat, provider: local, model: m, prompt: p.md, output: {{mode: text}}}}
suites:
  main: {{grader: judge, cases: cases.yaml, mutators: none, repeats: {{screen: 1}}}}
providers:
  local: {{base_url: "{url}", key_env: JUDGE_KEY, max_retries: 0{more}}}
"""
CASES = "cases:\n" + "".join(
    f"  - {{id: c{n}, question: Q{n}, reference: R, answer: A{n}, expected: correct}}\n" for n in range(4)
)


def forms(key):
    """What must not be found: the key in every form, and any long piece of it."""
    found = {echo(key) for name, echo in ECHOES.items() if name in ("raw", "url", "hex", "upper hex", "backwards")}
    found |= {json.dumps(key)[1:-1]} | {key[i : i + 9] for i in range(max(1, len(key) - 8))}
    for shift in range(3):
        inner = base64.b64encode(b"\0" * shift + key.encode()).decode()
        found |= {inner[4:-4]} if len(inner) > 16 else set()
    return {form for form in found if len(form) >= 6}


def squeezed(text):
    return re.sub(r"[\s\\\"'`+,;|\u200b]+|\\n|\\u200b", "", text)


def everything(*folders):
    """All bytes below the folders, and all values of SQLite files, as text; also with the separators taken out."""
    texts = []
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                texts.append(path.read_bytes().decode("utf-8", "replace"))
                if path.suffix == ".sqlite":
                    with sqlite3.connect(path) as db:
                        texts += [str(row) for (name,) in db.execute("select name from sqlite_master where type='table'")
                                  for row in db.execute(f"select * from {name}")]  # fmt: skip
                    db.close()
    return texts


def assert_hidden(key, texts):
    for text in texts:
        for seen in (text, squeezed(text)):
            for form in forms(key):
                assert form not in seen, f"{form!r} in …{seen[max(0, seen.find(form) - 80) : seen.find(form) + 80]!r}…"
            assert key.lower() not in seen.lower()


@pytest.fixture
def repo(tmp_path, capsys):
    return Repository(tmp_path / "repo", capsys)


def files(server, more=""):
    return {
        ".grader-gate.yml": CONFIG.format(url=server.base_url, more=more),
        "cases.yaml": CASES,
        "p.md": "{{ question }} {{ answer }}",
    }


def check(repo, server, monkeypatch, key, more=""):
    """A pull request that changes the prompt, through the command line, with the key in the environment."""
    monkeypatch.setenv("JUDGE_KEY", key)
    base = repo.commit(files(server, more))
    repo.commit({"p.md": "Grade: {{ question }} {{ answer }}"})
    return repo.check(base=base)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("status", [400, 401, 500])
def test_a_provider_that_echoes_the_key_in_its_errors(repo, tmp_path, monkeypatch, key, status):
    echoes = list(ECHOES.values())
    with model_server(lambda m, b, n: Fault(status=status, message=echoes[n % len(echoes)](key))) as server:
        ran = check(repo, server, monkeypatch, key)
        assert server.received[0].headers["authorization"] == f"Bearer {key}"
    assert ran.code == ExitCode.ERROR
    assert_hidden(key, [ran.out, ran.err, *everything(tmp_path)])


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_model_that_tells_the_key_as_its_reason(repo, tmp_path, monkeypatch, key):
    names = list(ECHOES)

    def reply(messages, body, number):
        # Right on base, wrong on head, so that the reasons are quoted everywhere.
        verdict = "incorrect" if "Grade:" in str(messages) else "correct"
        return json.dumps({"verdict": verdict, "reason": f"I know: {ECHOES[names[number % len(names)]](key)}"})

    with model_server(reply) as server:
        ran = check(repo, server, monkeypatch, key)
    assert ran.code == ExitCode.FAIL
    assert "I know:" in (ran.folder / "comment.md").read_text("utf-8")
    assert_hidden(key, [ran.out, ran.err, *everything(tmp_path)])


def test_a_served_model_and_a_header_that_hold_the_key(repo, tmp_path, monkeypatch):
    key = KEYS["openai"]
    said = json.dumps({"verdict": "correct", "reason": "ok"})
    with model_server(lambda m, b, n: said, model=f"model-{key}") as server:
        ran = check(repo, server, monkeypatch, key)
    assert ran.code == ExitCode.OK
    assert_hidden(key, [ran.out, ran.err, *everything(tmp_path)])


CODE = """
import os, sys

def grade(question, answer):
    key = os.environ["JUDGE_KEY"]
    print(key)
    print(key, file=sys.stderr)
    if question == "Q0":
        raise ValueError(f"cannot use {key}")
    if question == "Q1":
        sys.stderr.write(f"dying with {key}")
        sys.stderr.flush()
        os._exit(3)
    return {"verdict": "incorrect", "reason": f"the key is {key}", "citations": [key],
            "checks": [{"name": key, "passed": False, "detail": key}]}
"""
PROGRAM = """
import json, os, sys
key = os.environ["JUDGE_KEY"]
question = json.load(sys.stdin)["inputs"]["question"]
print(key, file=sys.stderr)
if question == "Q0":
    print(key)
    sys.exit(0)
if question == "Q1":
    sys.exit(4)
print(json.dumps({"verdict": "incorrect", "reason": f"the key is {key}"}))
"""
KINDS = {
    "python": "{kind: python, callable: 'judge:grade', env: [JUDGE_KEY], contract: {inputs: [question, answer]}}",
    "command": "{kind: command, command: [python3, program.py], env: [JUDGE_KEY], "
    "contract: {inputs: [question, answer]}}",
}


@pytest.mark.parametrize("kind", KINDS)
def test_graders_in_code_that_print_raise_and_return_it(repo, tmp_path, monkeypatch, kind):
    key = KEYS["openai"]
    monkeypatch.setenv("JUDGE_KEY", key)
    config = f"version: 1\nreport: {{quote: full}}\ngraders:\n  judge: {KINDS[kind]}\n"
    config += "suites:\n  main: {grader: judge, cases: cases.yaml, mutators: none}\n"
    good = CODE.replace("incorrect", "correct"), PROGRAM.replace("incorrect", "correct")
    base = repo.commit({".grader-gate.yml": config, "cases.yaml": CASES, "judge.py": good[0], "program.py": good[1]})
    repo.commit({"judge.py": CODE, "program.py": PROGRAM})
    ran = repo.check(base=base)
    assert ran.code == ExitCode.FAIL
    assert "the key is [hidden]" in (ran.folder / "ledger.jsonl").read_text("utf-8")
    assert_hidden(key, [ran.out, ran.err, *everything(tmp_path)])


@pytest.mark.parametrize("command", ["run", "audit", "freeze", "noise", "calibrate"])
def test_every_command_that_grades_hides_it(repo, tmp_path, monkeypatch, command):
    key = KEYS["slashes"]
    monkeypatch.setenv("JUDGE_KEY", key)
    replies = iter(range(10**6))
    echoes = list(ECHOES.values())

    def reply(messages, body, number):
        return json.dumps({"verdict": "correct", "reason": echoes[next(replies) % len(echoes)](key)})

    with model_server(reply) as server:
        repo.commit(files(server))
        ran = repo.gate(command, "HEAD", "--repeats", "2")
    assert ran.code in (ExitCode.OK, ExitCode.FAIL), ran.err
    assert_hidden(key, [ran.out, ran.err, *everything(tmp_path)])


def test_a_redirect_to_another_host_gets_nothing(repo, tmp_path, monkeypatch):
    key = KEYS["openai"]
    with model_server(lambda m, b, n: "{}") as elsewhere:
        away = {"location": f"{elsewhere.base_url}/chat/completions"}
        with model_server(lambda m, b, n: Fault(status=307, headers=away)) as server:
            ran = check(repo, server, monkeypatch, key)
        assert elsewhere.received == []
    assert ran.code == ExitCode.ERROR
    assert "redirects are not followed" in json.dumps(ran.result)


def test_head_cannot_point_the_key_at_another_host(repo, monkeypatch):
    """Provider blocks are base's: host, key name, headers."""
    key = KEYS["openai"]
    monkeypatch.setenv("JUDGE_KEY", key)
    monkeypatch.setenv("OTHER_KEY", "other-secret-0123456789")
    said = json.dumps({"verdict": "correct", "reason": "ok"})
    with model_server(lambda m, b, n: said) as elsewhere, model_server(lambda m, b, n: said) as server:
        base = repo.commit(files(server))
        hostile = CONFIG.format(url=elsewhere.base_url, more="").replace("key_env: JUDGE_KEY", "key_env: OTHER_KEY")
        repo.commit({".grader-gate.yml": hostile, "p.md": "Grade: {{ question }} {{ answer }}"})
        ran = repo.check(base=base)
        assert elsewhere.received == []
        assert {one.headers["authorization"] for one in server.received} == {f"Bearer {key}"}
    assert ran.code in (ExitCode.OK, ExitCode.FAIL)


def test_a_provider_that_base_does_not_have_is_refused(repo, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", KEYS["openai"])
    with model_server(lambda m, b, n: "{}") as elsewhere, model_server(lambda m, b, n: "{}") as server:
        base = repo.commit(files(server))
        more = f'}}\n  mine: {{base_url: "{elsewhere.base_url}", key_env: JUDGE_KEY'
        repo.commit({".grader-gate.yml": CONFIG.format(url=server.base_url, more=more).replace("local,", "mine,")})
        ran = repo.check(base=base)
        assert (elsewhere.received, server.received) == ([], [])
    assert ran.code == ExitCode.USAGE
    assert "provider blocks are trusted from base only" in ran.err


def test_the_key_goes_to_the_provider_s_own_header_and_nowhere_else(repo, tmp_path, monkeypatch):
    key = KEYS["openai"]
    said = json.dumps({"verdict": "correct", "reason": "ok"})
    with model_server(lambda m, b, n: said) as server:
        check(repo, server, monkeypatch, key, more=", key_header: api-key")
        for one in server.received:
            assert [name for name, value in one.headers.items() if key in value] == ["api-key"]
            assert key not in json.dumps([one.path, one.query, one.body])
