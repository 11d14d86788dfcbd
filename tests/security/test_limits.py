"""Too much of anything ends soon, in little memory, with one clear line."""

import asyncio
import gzip
import json
import os
import resource
import subprocess
import sys
import zlib

import pytest

from grader_gate.config import Provider
from grader_gate.graders.connection import MAX_REPLY_BYTES, Connection
from grader_gate.graders.extraction import MAX_REPLY_CHARACTERS
from tests.flow.repository import CONFIG, Repository, base_files, case_file
from tests.graders.parts import item
from tests.graders.test_checks import checks
from tests.security.serving import model_server

CHAT = CONFIG.replace(
    "kind: python\n    callable: judge:grade\n    path: code\n    rubric: rubric.md",
    "kind: chat\n    provider: local\n    model: m\n    prompt: judge.md",
)
MEGABYTE = 2**20


@pytest.fixture
def repo(tmp_path, capsys):
    made = Repository(tmp_path / "repo", capsys)
    made.commit(base_files(), "base")
    return made


async def raw_server(body, headers):
    """A server that answers one fixed reply, written piece by piece; gives its URL and a way to end it."""

    async def serve(reader, writer):
        try:
            while (await reader.readline()).strip():
                pass
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n" + headers + b"\r\n"
            )
            for piece in body():
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", server


def peak():
    """Most memory this process ever had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def ask(body, headers=b"", **options):
    url, server = await raw_server(body, headers)
    connection = Connection(
        "p", Provider(base_url=url, max_retries=0, timeout_s=20, **options), {}, lambda key, name: ("a", key)
    )
    try:
        return await connection.post("/x", {})
    finally:
        await connection.aclose()
        server.close()


def pieces(count):
    def body():
        yield b'{"a":"'
        for _ in range(count):
            yield b"x" * 65536

    return body


async def test_a_hundred_megabytes_from_the_provider():
    before = peak()
    outcome = await ask(pieces(1600))
    assert outcome.failure.endswith(f"the reply has over {MAX_REPLY_BYTES:,} bytes")
    assert peak() - before < 60


def bomb(encoding, size):
    packed = zlib.compressobj(9, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    data = b"".join(packed.compress(b" " * MEGABYTE) for _ in range(size)) + packed.flush()
    return lambda: iter([data])


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_reply_that_unpacks_to_a_gigabyte(encoding):
    body = bomb(encoding, 1024)
    before = peak()
    outcome = await ask(body, f"content-encoding: {encoding}\r\n".encode())
    assert outcome.data is None
    assert outcome.failure is not None
    assert peak() - before < 120


async def test_a_packed_reply_of_a_usual_size_is_read():
    data = gzip.compress(json.dumps({"a": "b"}).encode())
    outcome = await ask(lambda: iter([data]), b"content-encoding: gzip\r\n")
    assert outcome.data == {"a": "b"}


async def test_json_nested_without_end():
    outcome = await ask(lambda: iter([b"[" * 3_000_000]))
    assert "the reply is not JSON" in outcome.failure


async def test_headers_without_end():
    outcome = await ask(lambda: iter([b"{}"]), b"x: " + b"y" * MEGABYTE + b"\r\n")
    assert (
        outcome.failure
        == f"p ({outcome.failure[3 : outcome.failure.index(')')]}): the reply is no valid HTTP (ClientResponseError)"
    )


@pytest.mark.parametrize(
    "raw",
    [b"", b"nonsense", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/9.9 200 OK\r\n\r\n", b"\x00" * 5000, b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 40_000,
     b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
     b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{}", b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nnot gzip",
     b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\n\xff\xff", b"HTTP/1.1 101 Switching\r\n\r\n", b"HTTP/1.1 204 No\r\n\r\n"],
)  # fmt: skip
async def test_what_is_no_http_is_a_failure_and_never_raises(raw):
    async def serve(reader, writer):
        await reader.readline()
        writer.write(raw)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    provider = Provider(base_url=url, max_retries=0, timeout_s=5)
    connection = Connection("p", provider, {}, lambda key, name: ("a", key))
    try:
        outcome = await connection.post("/x", {})
    finally:
        await connection.aclose()
        server.close()
    assert outcome.data is None
    assert outcome.failure.startswith("p (127.0.0.1:")


TEMPLATES = {
    "loops in loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "text that doubles": "{% set x = namespace(v='x') %}{% for i in range(99) %}{% set x.v = x.v ~ x.v %}{% endfor %}{{ x.v }}",
    "text times a number": "{{ 'x' * 999999999 }}",
    "a power": "{{ 9 ** 999999999 }}",
    "a wide format": "{{ '%999999999d' % 1 }}",
    "padding": "{{ question.ljust(999999999) }}{{ question.center(999999999) }}",
    "indent": "{{ question | indent(999999999) }}",
    "itself": "{% include 'judge.md' %}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
    "a recursive loop": "{% for x in [[1]] recursive %}{{ loop([x, x]) }}{% endfor %}",
    "brackets": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "branches": "{% if 1 %}" * 2000 + "{% endif %}" * 2000,
    "a long file": "{{ question }}" + "x" * (2 * MEGABYTE),
    "a huge range": "{{ range(999999999999) | list | length }}",
    "a replacement that grows": "{% set x = namespace(v='xxxxxxxxxx') %}{% for i in range(20) %}"
    "{% set x.v = x.v | replace('x', 'xxxxxxxxxx') %}{% endfor %}{{ x.v }}",
    "batches": "{{ question | batch(99999999, 'x') | list }}",
}


def limited(repo, *arguments, seconds=60, megabytes=1500):
    """The command line in a process that may have so much memory and processor time."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * MEGABYTE, megabytes * MEGABYTE))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    command = [sys.executable, "-m", "grader_gate", *arguments, "--quiet", "--no-cache"]
    env = {"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        command, cwd=repo.root, env=env, preexec_fn=limit, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_that_takes_too_much(repo, template):
    providers = 'providers: {local: {base_url: "http://127.0.0.1:9"}}\n'
    repo.commit({".grader-gate.yml": CHAT + providers, "judge.md": f"{{{{ question }}}}{{{{ answer }}}}{template}"})
    done = limited(repo, "plan", "HEAD")
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr[-2000:])
    assert "judge.md" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert len(done.stderr) < 700


FILES = {
    "deep YAML": ("cases/all.yaml", "[" * 100_000),
    "deep YAML in blocks": ("cases/all.yaml", "".join(f"{' ' * n}a:\n" for n in range(3000))),
    "deep JSON": ("cases/all.json", "[" * 100_000 + "]" * 100_000),
    "a million laughs": (
        "cases/all.yaml",
        "a0: &a0 [lol, lol]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)),
    ),
    "an alias of itself": ("cases/all.yaml", "a: &a [*a]\n"),
    "merges of merges": (
        "cases/all.yaml",
        "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12)),
    ),
    "many keys": ("cases/all.yaml", "x:\n" + "".join(f"  k{n}: 1\n" for n in range(200_000))),
    "a long number": ("cases/all.yaml", "cases: [{id: a, tolerance: " + "9" * 100_000 + "}]"),
    "a long JSON number": ("cases/all.json", '{"cases": [{"tolerance": ' + "9" * 100_000 + "}]}"),
    "a huge exponent": ("cases/all.yaml", "cases: [{id: a, tolerance: 1e999999999}]"),
    "a file of 70 MB": ("cases/all.yaml", "# " + "x" * (70 * MEGABYTE)),
    "a deep configuration": (".grader-gate.yml", "version: 1\nx: " + "{a: " * 50_000),
}


@pytest.mark.parametrize(("path", "text"), FILES.values(), ids=FILES)
def test_a_file_that_holds_too_much(repo, path, text):
    changes = {path: text}
    if path.endswith(".json"):
        changes |= {".grader-gate.yml": CONFIG.replace("cases/*.yaml", "cases/*.json"), "cases/all.yaml": None}
    repo.commit(changes)
    done = limited(repo, "plan", "HEAD")
    assert done.returncode == 2, (done.returncode, done.stdout[-500:], done.stderr[-2000:])
    assert path in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert len(done.stderr) < 700


def test_many_cases_are_planned_in_bounded_memory(repo):
    texts = {f"c{n}": (f"Answer {n} is good", "correct") for n in range(20_000)}
    repo.commit({"cases/all.yaml": case_file(texts)})
    done = limited(repo, "check", "--base", "HEAD~", "--head", "HEAD", "--dry-run", seconds=100)
    assert done.returncode == 0, done.stderr[-2000:]


REGEXES = ["(a+)+$", "(a|aa)+$", "(.*a){25}$", r"(\w+\s?)*$x", "((a*)*)*b", "(?:a?){40}a{40}"]


@pytest.mark.parametrize("pattern", REGEXES)
async def test_a_pattern_that_backtracks_without_end(pattern):
    """Through every keyword of a schema that searches, and the check itself."""
    from grader_gate.graders.base import Call

    text = "a" * 4000 + "!"
    schemas = [
        {"pattern": pattern},
        {"patternProperties": {pattern: {"type": "number"}}},
        {"patternProperties": {pattern: True}, "additionalProperties": False},
    ]
    blocks = [{"type": "regex", "pattern": pattern}]
    blocks += [{"type": "json_schema", "schema": schema} for schema in schemas]
    for block in blocks:
        if block["type"] == "regex":
            answer = text
        else:
            answer = json.dumps({text: "x"} if "patternProperties" in block["schema"] else text)
        grader = checks(block)
        asked = item(answer)
        await grader.prepare()
        async with asyncio.timeout(30):
            grade = await grader.grade(asked, grader.request(asked), Call())
        assert grade.error is not None or grade.verdict is not None
        if grade.error is not None:
            assert "took over" in grade.error.message


async def test_a_schema_whose_references_double():
    from grader_gate.graders.base import Call

    definitions = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**definitions, "d40": {"type": "object"}}}
    grader = checks({"type": "json_schema", "schema": schema})
    asked = item("{}")
    await grader.prepare()
    grade = await grader.grade(asked, grader.request(asked), Call())
    assert "follows over 10,000 references" in grade.error.message


@pytest.mark.parametrize(
    ("schema", "answer", "good"),
    [
        ({"additionalProperties": False, "properties": {"a": {}}}, '{"a": 1}', True),
        ({"additionalProperties": False, "properties": {"a": {}}}, '{"b": 1}', False),
        ({"additionalProperties": {"type": "number"}}, '{"b": 1}', True),
        ({"additionalProperties": {"type": "number"}}, '{"b": "x"}', False),
        ({"additionalProperties": False, "patternProperties": {"^x-": {}}}, '{"x-1": 1}', True),
        ({"additionalProperties": False, "patternProperties": {"^x-": {}}}, '{"y-1": 1}', False),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}, "1", True),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}, '"1"', False),
    ],
)
async def test_bounded_keywords_mean_what_they_always_did(schema, answer, good):
    from jsonschema import Draft202012Validator

    from grader_gate.graders.base import Call

    grader = checks({"type": "json_schema", "schema": schema})
    asked = item(answer)
    grade = await grader.grade(asked, grader.request(asked), Call())
    assert (grade.verdict == "correct") is good is Draft202012Validator(schema).is_valid(json.loads(answer))


def test_a_ledger_line_of_fifty_megabytes(repo):
    config = CONFIG.replace(
        "kind: python\n    callable: judge:grade\n    path: code\n    rubric: rubric.md",
        "kind: replay\n    ledger: recorded.jsonl",
    )
    repo.commit({".grader-gate.yml": config, "recorded.jsonl": '{"suite":"' + "x" * (50 * MEGABYTE)})
    done = limited(repo, "plan", "HEAD")
    assert done.returncode == 2, done.stderr[-500:]
    assert len(done.stderr.splitlines()) == 1
    assert len(done.stderr) < 700


def test_the_longest_reply_that_is_read_stays_out_of_the_reports(repo):
    huge = "very long reason " * (MAX_REPLY_CHARACTERS // 17 - 9)

    def reply(messages, body, number):
        return json.dumps({"verdict": "incorrect" if "Grade" in str(messages) else "correct", "reason": huge})

    with model_server(reply) as server:
        config = CHAT + f'providers: {{local: {{base_url: "{server.base_url}"}}}}\nreport: {{quote: full}}\n'
        base = repo.commit({".grader-gate.yml": config, "judge.md": "Judge {{ question }}{{ answer }}"})
        repo.commit({"judge.md": "Grade {{ question }}{{ answer }}"})
        ran = repo.check(base=base)
    assert ran.code == 1
    assert (ran.folder / "comment.md").stat().st_size < 250_000
    assert (ran.folder / "report.html").stat().st_size < 5 * MEGABYTE
