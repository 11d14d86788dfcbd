"""Prompts: every mistake is found before a call, and a hostile template ends."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.errors import LocatedError, UsageError
from grader_gate.graders.templates import TemplateProblem

from .parts import grader, item

PROVIDER = {"base_url": "http://127.0.0.1:1/v1"}


def chat(files: dict[str, str], prompt: Any = "prompts/judge.md", **more: Any) -> Any:
    config = {"kind": "chat", "provider": "local", "model": "m", "prompt": prompt, **more}
    return grader(config, provider=PROVIDER, files=files)


PROMPT = chat({"prompts/judge.md": "<{{ answer }}>"})


def rendered(text: str, one: Any = None, **more: Any) -> str:
    request = chat({"prompts/judge.md": text}, **more).request(one or item())
    return request.payload["messages"][0]["content"]


def problem(text: str, **more: Any) -> str:
    with pytest.raises(TemplateProblem) as caught:
        rendered(text, **more)
    return str(caught.value)


def test_a_text_file_is_one_user_message() -> None:
    text = "Q: {{ question }}\n{% if reference -%}\nR: {{ reference }}\n{% endif -%}\nA: {{ answer }}\n"
    text += "{{ rubric }} {{ tone }}"
    one = chat({"prompts/judge.md": text}, variables={"tone": "kind"}).request(item("41"))
    want = "Q: What is six times seven?\nR: 42\nA: 41\nBe exact. kind"
    assert one.payload["messages"] == [{"role": "user", "content": want}]
    assert one.characters == len(want)


def test_a_list_file_is_many_messages() -> None:
    text = "- role: system\n  content: Judge.\n- role: user\n  content: |\n    Answer:\n    {{ answer }}\n"
    built = chat({"p.yaml": text}, "p.yaml")
    assert built.request(item()).payload["messages"] == [
        {"role": "system", "content": "Judge."},
        {"role": "user", "content": "Answer:\n42"},
    ]
    as_json = '[{"role": "system", "content": "Judge."}, {"role": "user", "content": "Answer:\\n{{ answer }}"}]'
    assert chat({"p.json": as_json}, "p.json").request(item()).digest == built.request(item()).digest


def test_errors_in_a_list_file_name_the_line() -> None:
    broken = "- role: system\n  content: Judge.\n- role: user\n  content: |\n    Answer:\n    {{ anwser }}\n"
    with pytest.raises(TemplateProblem, match=r"p\.yaml:6: unknown variable `anwser`; did you mean `answer`\?"):
        chat({"p.yaml": broken}, "p.yaml").request(item())
    with pytest.raises(LocatedError, match=r"p\.yaml:1: .*`role`, one of system"):
        chat({"p.yaml": "- role: boss\n  content: hi\n"}, "p.yaml").request(item())
    with pytest.raises(LocatedError, match=r"p\.yaml:2: is not valid YAML"):
        chat({"p.yaml": "- role: [\n}"}, "p.yaml").request(item())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("one\n{{ answer }}\n{{ output }}", "prompts/judge.md:3: unknown variable `output`; did you mean `answer`?"),
        ("{{ answer }}{{ expected }}", "prompts/judge.md:1: unknown variable `expected`; did you mean `reference`?"),
        ("{{ answer }}\n{{ sources }}", "prompts/judge.md:2: `sources` is not among the contract's inputs"),
        ("{{ question }}", "prompts/judge.md:1: the prompt never shows the `answer`"),
        ("{{ answer }}\n{% if %}", "prompts/judge.md:2: cannot be rendered: Expected an expression"),
        (
            "{{ answer }}\n\n{{ question.colour }}",
            "prompts/judge.md:3: cannot be rendered for golden/one: 'str object'",
        ),
        ("{{ answer }}\n{{ 1 / 0 }}", "prompts/judge.md:2: cannot be rendered for a sample item: ZeroDivisionError"),
        ("{{ answer | shout }}", "prompts/judge.md:1: cannot be rendered: No filter named 'shout'"),
        ("{{ answer }}{{ ''.__class__.__mro__ }}", "prompts/judge.md:1: not allowed in a prompt"),
        ("{{ answer }}{{ '{:9}'.format(1) }}", "prompts/judge.md:1: not allowed in a prompt"),
    ],
)
def test_mistakes_have_a_file_and_a_line(text: str, message: str) -> None:
    assert message in problem(text)


def test_an_input_the_item_lacks_is_an_error_only_where_it_is_printed() -> None:
    bare = item(reference=None)
    with pytest.raises(TemplateProblem, match=r"judge\.md:2: prints an input that golden/one does not have"):
        rendered("{{ answer }}\n{{ reference }}", bare)
    assert rendered("{{ answer }}{% if reference %}{{ reference }}{% endif %}", bare) == "42"


def test_only_the_contracts_inputs_reach_the_prompt() -> None:
    sources = [{"id": "s1", "text": "Six sevens."}]
    text = "{{ answer }}{% for s in sources %}\n[{{ s.id }}] {{ s.text }}{% endfor %}"
    assert rendered(text, item(sources=sources), contract={"inputs": ["answer", "sources"]}) == "42\n[s1] Six sevens."
    assert "not among the contract's inputs" in problem(text)


def test_unused_inputs_are_a_warning() -> None:
    built = chat({"prompts/judge.md": "{{ question }}{{ answer }}"})
    assert built.warnings == [
        "graders.judge: the prompt never uses `reference`, which the contract makes visible",
        "graders.judge: the prompt never uses `rubric`, which the contract makes visible",
    ]


def test_whitespace_that_renders_the_same_keeps_the_request() -> None:
    one = chat({"prompts/judge.md": "{{ answer }}\n{% if question %}\nyes\n{% endif %}\n"})
    two = chat({"prompts/judge.md": "{{answer}}\r\n{%   if question   %}\r\nyes\r\n{%endif%}\r\n"})
    assert one.request(item()).digest == two.request(item()).digest
    assert one.identity != two.identity


# ---------------------------------------------------------------- includes


def test_includes_below_the_prompts_folder() -> None:
    files = {
        "prompts/judge.md": "{% include 'parts/rules.md' %}\n{{ answer }}",
        "prompts/parts/rules.md": "{% include 'parts/tone.txt' %}, about {{ question }}",
        "prompts/parts/tone.txt": "Be kind",
    }
    built = chat(files)
    content = built.request(item()).payload["messages"][0]["content"]
    assert content == "Be kind, about What is six times seven?\n42"
    assert chat({**files, "prompts/parts/tone.txt": "Be harsh"}).identity != built.identity
    assert chat({**files, "prompts/other.md": "x"}).identity == built.identity


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../cases/golden.md", "only files below the prompt's own folder"),
        ("/etc/passwd.txt", "only files below the prompt's own folder"),
        ("a/../../x.md", "only files below the prompt's own folder"),
        ("cases.yaml", "only text files"),
        ("cases.jsonl", "only text files"),
        (".hidden/a.md", "only text files"),
        ("gone.md", "there is no prompts/gone.md to include"),
    ],
)
def test_forbidden_includes(name: str, message: str) -> None:
    files = {"cases/golden.md": "correct", "prompts/cases.yaml": "expected: correct", "x.md": "x"}
    with pytest.raises(TemplateProblem, match=r"prompts/judge\.md:2") as caught:
        chat({**files, "prompts/judge.md": f"{{{{ answer }}}}\n{{% include '{name}' %}}"}).request(item())
    assert message in str(caught.value)


def test_an_included_file_is_checked_too() -> None:
    files = {"prompts/judge.md": "{{ answer }}{% include 'a.md' %}", "prompts/a.md": "one\n{{ colour }}"}
    with pytest.raises(TemplateProblem, match=r"prompts/a\.md:2: unknown variable `colour`"):
        chat(files).request(item())


def test_macros_loops_and_imports() -> None:
    files = {
        "prompts/judge.md": "{% from 'lib/m.md' import tag as t %}{% import 'lib/m.md' as lib %}"
        "{% macro own(x) %}<{{ caller() if caller is defined else x }}>{% endmacro %}{% set name = 'n' %}"
        "{{ t(answer) }}{{ lib.tag(name) }}{{ own(1) }}{% call own(2) %}c{% endcall %}{% include 'lib/i.md' %}"
        "{% for w in question.split() %}{{ loop.index }}{% if loop.last %}.{% endif %}{% endfor %}",
        "prompts/lib/m.md": "{% macro tag(x) %}[{{ x }}]{% endmacro %}",
        "prompts/lib/i.md": "{{ own(3) }}{{ t(name) }}",
    }
    content = chat(files).request(item()).payload["messages"][0]["content"]
    assert content == "[42][n]<1><c><3>[n]12345."


@given(st.text(max_size=300))
def test_any_answer_is_shown_as_it_is(answer: str) -> None:
    assert PROMPT.request(item(answer)).payload["messages"][0]["content"] == f"<{answer}>"


def test_template_syntax_in_a_case_is_text() -> None:
    hostile = "{{ question }}{% for i in range(9) %}x{% endfor %}{% include 'other.md' %}"
    assert rendered("{{ answer }}", item(hostile)) == hostile


def test_computed_includes_and_data_prompts_are_refused() -> None:
    assert "literally" in problem("{{ answer }}{% include question %}")
    with pytest.raises(UsageError, match="holds data, not a prompt"):
        chat({"cases.jsonl": "{}"}, "cases.jsonl").request(item())
    with pytest.raises(UsageError, match=r"gone\.md.*no such file at 0123abc"):
        chat({}, "gone.md").request(item())


# ---------------------------------------------------------------- hostile templates

ENDS = ("not allowed", "Range too big", "deeply", "No filter", "recursive loops", "no test", "OverflowError")
GROW = "{% set n = namespace(x='aaaaaaaaaa') %}{% for i in range(60) %}"


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3,
        "{% for a in range(9999999) %}{% endfor %}",
        "{{ 'a' * 999999999 }}",
        "{{ 9 ** (9 ** 9) }}",
        "{{ '%999999999d' % 1 }}",
        GROW + "{% set n.x = n.x ~ n.x %}{% endfor %}",
        GROW + "{% set n.x = n.x + n.x %}{% endfor %}",
        "{% set n = namespace(x=7) %}{% for i in range(60) %}{% set n.x = n.x * n.x %}{% endfor %}",
        GROW + "{% set n.x = [n.x, n.x] | join %}{% endfor %}",
        GROW + "{% set n.x = n.x | replace('a', n.x) %}{% endfor %}",
        GROW + "{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}{% endfor %}",
        "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(50) }}",
        "{% for a in [[1]] recursive %}{{ loop(a) }}{% endfor %}",
        "{{ 'a' | indent(999999999, true) }}",
        "{{ 'a'.ljust(999999999) }}",
        "{{ 'a'.replace('a', 'b' ) }}",
        "{{ 5 | round(-999999999) }}",
        "{{ 1.5 | round(999999999) }}",
        "{{ " + "9" * 9999 + " }}",
        "{{ 'a' | center(999999999) }}",
        "{{ [1] | batch(999999999, 'x') | list }}",
        "{% for i in range(99999) %}" + "x" * 5000 + "{% endfor %}",
        "(" * 3000,
        "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
        "{% if 1 %}" * 300 + "{% endif %}" * 300,
        "{% for a in 'a' %}" * 60 + "{% endfor %}" * 60,
        "{% include 'judge.md' %}",
    ],
)
def test_a_hostile_template_ends(text: str) -> None:
    started = time.process_time()
    if text.startswith("((("):
        assert rendered("{{ answer }}" + text) == "42" + text
    else:
        message = problem("{{ answer }}" + text)
        assert message.startswith("prompts/judge.md:")
        assert any(word in message for word in ENDS), message
    assert time.process_time() - started < 8


def test_templates_are_bounded_together() -> None:
    files = {
        "prompts/judge.md": "{{ answer }}{% include 'a.md' %}" + "x" * 120_000,
        "prompts/a.md": "y" * 70_000,
    }
    assert len(chat(files).request(item()).payload["messages"][0]["content"]) == 190_002
    files["prompts/a.md"] += "y" * 10_000
    with pytest.raises(TemplateProblem, match=r"^prompts/a\.md:1: the prompt's templates have over 200,000 characters"):
        chat(files).request(item())


def test_long_answers_are_fine() -> None:
    assert len(rendered("{{ answer }}", item("x" * 400_000))) == 400_000
    assert rendered("<a>{{ answer | escape }}</a>", item("</a><b>&")) == "<a>&lt;/a&gt;&lt;b&gt;&amp;</a>"
    assert rendered("{{ {'a': answer} | tojson }}", item("<é>")) == '{"a": "<é>"}'
    assert "limit is 1,000,000" in problem("{{ answer }}{{ answer }}", one=item("x" * 600_000))


# ---------------------------------------------------------------- rubrics


def test_the_rubric_is_the_grading_sides() -> None:
    files = {"prompts/judge.md": "{{ answer }} {{ rubric }}", "rubrics/a.md": "Head's rubric.\n", "d.md": "Default."}
    built = chat(files, rubric="d.md")

    def shown(one: Any) -> str:
        return built.request(one).payload["messages"][0]["content"]

    assert shown(item(rubric="Base's rubric.", rubric_path="rubrics/a.md")) == "42 Head's rubric."
    assert shown(item(rubric="Head's rubric.\n- exact", rubric_path="rubrics/a.md")) == "42 Head's rubric.\n- exact"
    assert shown(item(rubric="Base's rubric.", rubric_path="rubrics/gone.md")) == "42 Base's rubric."
    assert shown(item(rubric=None)) == "42 Default."
    assert shown(item(rubric="Own.")) == "42 Own."
