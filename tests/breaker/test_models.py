"""Chat graders: what the model or its host does must neither turn a change green nor red."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.breaker.models import PROMPT, Model
from tests.flow.repository import Repository, base_files
from tests.servers.model_server import Fault


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.close()


def start(repo: Repository, model: Model, files: dict[str, str | bytes | None] | None = None, *, prompt: str = PROMPT,
          freeze: bool = False) -> None:  # fmt: skip
    """Base on main (with a frozen baseline), then a topic branch."""
    held = {**base_files(config=model.config()), "prompts/main.j2": prompt, **(files or {})}
    repo.commit({k: v for k, v in held.items() if k != "code/judge.py"}, "base")
    if freeze:
        assert repo.gate("freeze", "HEAD", "--by", "t", out="frozen").code == 0
        repo.commit(message="freeze")
    repo.git("switch", "-q", "-c", "topic")


@pytest.mark.parametrize("freeze", [False, True])
@pytest.mark.parametrize(
    "reply", ["I cannot say.", "", Fault(finish="content_filter"), Fault(finish="length", text='{"reas')]
)
def test_replies_that_neither_side_can_use_are_an_error(
    empty: Repository, model: Model, reply: str | Fault, freeze: bool
) -> None:
    start(empty, model, freeze=freeze)
    empty.commit({"prompts/main.j2": PROMPT + "Be LENIENT."})
    model.reply = lambda *_: reply
    run = empty.check("--no-cache")
    assert (run.code, run.result["verdict"]) == (3, "error")
    assert "7 of 7 items got no usable reply on either side" in run.result["headline"]


def test_a_single_answer_that_the_model_always_refuses_is_no_error(empty: Repository, model: Model) -> None:
    def reply(messages: list[dict[str, str]], body: dict[str, object], number: int) -> str | Fault:
        from tests.breaker.models import judge

        return Fault(finish="content_filter") if "Q one?" in messages[0]["content"] else judge(messages, body, number)

    start(empty, model)
    empty.commit({"prompts/main.j2": PROMPT + "Think first."})
    model.reply = reply
    run = empty.check("--no-cache")
    assert (run.code, run.result["verdict"]) == (0, "pass")


@pytest.mark.parametrize("key", ["base_url", "query", "max_output_tokens"])
def test_another_host_behind_a_grader_is_a_goalpost_for_it_cannot_be_measured(
    empty: Repository, model: Model, key: str
) -> None:
    start(empty, model)
    changed = {
        "base_url": model.config().replace("/v1", "/v2"),
        "query": model.config(provider=", query: {api-version: '2'}"),
        "max_output_tokens": model.config(provider=", max_output_tokens: 5"),
    }[key]
    empty.commit({".grader-gate.yml": changed})
    run = empty.check()
    assert (run.code, run.goalposts()) == (1, ["provider changed"])
    assert key in run.result["goalposts"][0]["detail"]


def test_timeouts_prices_and_allow_lists_of_a_provider_are_no_goalpost(empty: Repository, model: Model) -> None:
    start(empty, model)
    empty.commit({".grader-gate.yml": model.config(provider=", timeout_s: 5, models: [m], concurrency: 2")})
    run = empty.check()
    assert (run.code, run.goalposts()) == (0, [])


def test_an_included_file_with_a_percent_sign_in_its_name_is_part_of_the_prompt(
    empty: Repository, model: Model
) -> None:
    start(empty, model, {"prompts/100%.j2": "Be strict.\n"}, prompt='{% include "100%.j2" %}' + PROMPT)
    empty.commit({"prompts/100%.j2": "Be LENIENT.\n"})
    run = empty.check("--no-cache")
    assert [f["case"] for f in run.findings("regression")] == ["two"]


@pytest.mark.parametrize("tag", ['{% include "parts/" ~ "x.j2" %}', '{% set p = "parts/x.j2" %}{% include p %}'])
def test_an_include_by_a_computed_name_is_never_taken_for_unchanged(empty: Repository, model: Model, tag: str) -> None:
    start(empty, model, {"prompts/parts/x.j2": "Be strict.\n"}, prompt=tag + PROMPT)
    empty.commit({"prompts/parts/x.j2": "Be LENIENT.\n"})
    run = empty.check("--no-cache")
    assert run.code == 2
    assert "name the included file literally" in run.err
