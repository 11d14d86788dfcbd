"""A provider whose certificate only a private authority vouches for, through the real command line."""

import asyncio
import contextlib
import json
import ssl
import threading

import pytest
from aiohttp import web

from tests.flow.repository import Repository
from tests.servers.certificates import self_signed

CONFIG = """
version: 1
graders:
  judge: {{kind: {kind}, provider: local, {more}}}
suites:
  main: {{grader: judge, cases: cases.yaml, mutators: none}}
providers:
  local: {{base_url: "{url}", wire: {wire}, key_env: JUDGE_KEY, max_retries: 0}}
"""
CASE = "cases:\n  - {id: one, question: Q?, answer: 'It is good', expected: correct}\n"


@contextlib.contextmanager
def tls_model(certificate, key):
    """A model server over TLS in a thread; gives its URL and the requests it got."""
    got: list[str] = []

    async def answer(request):
        got.append(request.headers.get("authorization", ""))
        said = json.dumps({"verdict": "correct", "reason": "fine"})
        if request.path.endswith("/grade"):
            return web.json_response({"verdict": "correct"})
        return web.json_response({"model": "m", "choices": [{"message": {"content": said}, "finish_reason": "stop"}]})

    loop, ready, port = asyncio.new_event_loop(), threading.Event(), []

    async def serve():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        app = web.Application()
        app.router.add_post("/{tail:.*}", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        port.append(runner.addresses[0][1])
        ready.set()
        return runner

    def run():
        asyncio.set_event_loop(loop)
        loop.runner = loop.run_until_complete(serve())
        loop.run_forever()
        loop.run_until_complete(loop.runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    yield f"https://127.0.0.1:{port[0]}/v1", got
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


@pytest.fixture
def model(tmp_path):
    with tls_model(*self_signed(tmp_path)) as (url, got):
        yield url, got, tmp_path / "cert.pem"


def files(url, kind):
    more = "model: m, prompt: p.md" if kind == "chat" else "path: /grade, version: '1'"
    wire = "openai" if kind == "chat" else "json"
    return {
        ".grader-gate.yml": CONFIG.format(url=url, kind=kind, more=more, wire=wire),
        "cases.yaml": CASE,
        "p.md": "{{ question }} {{ answer }}",
    }


@pytest.mark.parametrize("kind", ["chat", "http"])
def test_a_private_authority_is_trusted_where_it_is_named(model, tmp_path, capsys, monkeypatch, kind):
    url, got, certificate = model
    monkeypatch.setenv("JUDGE_KEY", "sk-private-0123456789")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    repo = Repository(tmp_path / "repo", capsys)
    repo.commit(files(url, kind))
    ran = repo.gate("run", "HEAD")
    assert (ran.code, len(got)) == (0, 1), ran.err
    assert got == ["Bearer sk-private-0123456789"]


def test_without_it_no_key_is_sent_and_nothing_is_green(model, tmp_path, capsys, monkeypatch):
    url, got, _ = model
    monkeypatch.setenv("JUDGE_KEY", "sk-private-0123456789")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    repo = Repository(tmp_path / "repo", capsys)
    repo.commit(files(url, "chat"))
    ran = repo.gate("run", "HEAD")
    assert (ran.code, got) == (3, [])
    assert "certificate" in json.dumps(ran.result).lower()


def test_a_file_that_holds_no_certificates_is_one_line(tmp_path, capsys, monkeypatch):
    (tmp_path / "none.pem").write_text("nothing")
    monkeypatch.setenv("JUDGE_KEY", "sk-private-0123456789")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    repo = Repository(tmp_path / "repo", capsys)
    repo.commit(files("https://127.0.0.1:1/v1", "chat"))
    ran = repo.gate("run", "HEAD")
    assert ran.code == 2
    assert "none.pem: no certificates can be read from it" in ran.err
    assert len(ran.err.splitlines()) == 1


def test_public_authorities_are_trusted_beside_it(tmp_path):
    """A private server and a public provider in one job: the bundle adds, it does not replace."""
    from grader_gate.config import Provider
    from grader_gate.graders.connection import Connection

    certificate, _ = self_signed(tmp_path)
    provider = Provider(base_url="https://api.example/v1")
    contexts = [
        Connection("p", provider, {}, lambda key, name: ("", ""), ca_file=file)._authorities()
        for file in (None, str(certificate))
    ]
    alone, both = (context.cert_store_stats()["x509_ca"] for context in contexts)
    assert alone > 50
    assert both == alone + 1
    assert all(context.verify_mode is ssl.CERT_REQUIRED and context.check_hostname for context in contexts)
