"""The configuration file: what is wrong, where, and how to mend it."""

from __future__ import annotations

import pytest

from grader_gate.config import ChatGrader, Mode
from grader_gate.configfile import ConfigError, ConfigMissing, line_of, load_config, parse_config
from grader_gate.errors import ExitCode
from tests.support import DirTree

GOOD = """\
version: 1
mode: report
providers:
  local:
    base_url: http://127.0.0.1:8080/v1
    key_env: LLM_KEY
graders:
  judge:
    kind: chat
    provider: local
    model: m-1
    prompt:
      - role: system
        file: prompts/judge.md
  shape:
    kind: checks
    checks:
      - type: json
suites:
  main:
    grader: judge
    cases: golden/*.yml
policy:
  freeze:
    not_author: no
"""


def messages(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse_config(text.encode())
    assert caught.value.exit_code is ExitCode.USAGE
    assert len(caught.value.problems) == len(str(caught.value).split("\n"))
    return str(caught.value).split("\n")


def test_a_good_one_loads():
    config = parse_config(GOOD.encode())
    assert config.mode is Mode.REPORT
    assert isinstance(config.graders["judge"], ChatGrader)
    assert config.suites["main"].cases == ("golden/*.yml",)
    assert config.policy.freeze.not_author is False


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version: 1", "version: 2", "1: version: `2` is not one of 1"),
        ("mode: report", "mode: reprot", "2: mode: `reprot` is not one of report, block; did you mean `report`?"),
        ("mode: report", "mdoe: report", "2: mdoe: unknown key; did you mean `mode`?"),
        ("    key_env", "    keyenv", "6: providers.local.keyenv: unknown key; did you mean `key_env`?"),
        ("LLM_KEY", "sk-live 1", "6: providers.local.key_env: `sk-live 1` must be the name of an environment variable"),
        ("http://127", "ftp://127", "5: providers.local.base_url: `ftp://127.0.0.1:8080/v1` must begin with http"),
        ("kind: chat", "kind: chta", ("9: graders.judge.kind: `chta` is no kind: it is one of chat, python, command, "
         "http, checks, replay, plugin; did you mean `chat`?")),
        ("    kind: chat\n", "", "8: graders.judge: `kind` is missing: it is one of chat, python, command"),
        ("    model: m-1\n", "", "8: graders.judge.model: missing: add this key"),
        ("model: m-1", "model: 4.1", "11: graders.judge.model: must be text: put it in quotes"),
        ("model: m-1", "model:", "11: graders.judge.model: has no value: give one, or remove the key"),
        ("        file:", "        fiel:", "14: graders.judge.prompt[0].fiel: unknown key; did you mean `file`?"),
        ("role: system", "role: sytem", "13: graders.judge.prompt[0].role: `sytem` is not one of"),
        ("type: json", "type: jsn", "18: graders.shape.checks[0].type: `jsn` is not one of"),
        ("type: json", "type: json\n        shema: x", ("19: graders.shape.checks[0].shema: unknown key; did you mean "
         "`schema`?")),
        ("type: json", "type: json\n        schema: 3", ("19: graders.shape.checks[0].schema: must be a mapping of "
         "keys to values or text")),
        ("    kind: checks\n", "    kind: checks\n    contract: {scale: {min: 2}}\n",
         "17: graders.shape.contract.scale: min (2) must be below max (1)"),
        ("provider: local", "provider: locla", ("10: graders.judge.provider: provider 'locla' is not defined; did you "
         "mean 'local'?")),
        ("grader: judge", "grader: jugde", "21: suites.main.grader: grader 'jugde' is not defined; did you mean"),
        ("    cases: golden/*.yml\n", "", "20: suites.main: name `cases` or `ladders` to grade"),
        ("not_author: no", "not_author: maybe", "25: policy.freeze.not_author: must be true or false"),
        ("policy:", "policy:\n  kill_rate: {default: 1.5}", ("24: policy.kill_rate.default: `1.5` is out of range: it "
         "must be at most 1")),
        ("policy:", "policy:\n  waivers: [{text: abc, reason: y/n, expires: 2026-12-31}]",
         "24: policy.waivers[0].text: `abc` must"),
    ],
)  # fmt: skip
def test_one_mistake_is_one_line(old, new, said):
    assert old in GOOD
    (message,) = messages(GOOD.replace(old, new, 1))
    assert message.startswith(f".grader-gate.yml:{said}")


def test_all_mistakes_at_once_in_the_order_of_the_file():
    text = GOOD.replace("mode:", "mod:").replace("    kind: checks", "    kind: cheks").replace("cases:", "case:")
    assert [line.split(": ")[1] for line in messages(text)] == ["mod", "graders.shape.kind", "suites.main.case"]


def test_a_long_list_is_cut():
    text = GOOD + "".join(f"x{index}: 1\n" for index in range(30))
    with pytest.raises(ConfigError) as caught:
        parse_config(text.encode())
    lines = str(caught.value).split("\n")
    assert (len(caught.value.problems), len(lines), lines[-1]) == (30, 21, ".grader-gate.yml: and 10 more")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1: the configuration is empty"),
        ("- a\n", "1: the configuration must be a mapping"),
        ("a: 1\nb: [\n", "3: not valid YAML"),
        ("a: 1\na: 2\n", "2: a: the key stands twice"),
    ],
)
def test_files_that_are_no_configuration(text, said):
    (message,) = messages(text)
    assert message.startswith(f".grader-gate.yml:{said}")


def test_from_a_tree(tmp_path):
    tree = DirTree(tmp_path)
    with pytest.raises(ConfigMissing, match=r"^\.grader-gate\.yml: no such file in FOLDER; `grader-gate init`"):
        load_config(tree)
    (tmp_path / ".grader-gate.yml").write_text(GOOD)
    assert load_config(tree).suites["main"].grader == "judge"
    assert tree.reads[".grader-gate.yml"] == 1
    assert line_of(tree, ".grader-gate.yml", ("suites", "main", "cases")) == 22
    assert line_of(tree, "none.yml", ("suites",)) is None
