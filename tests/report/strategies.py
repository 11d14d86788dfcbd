"""Hostile results: real shapes, with every foreign string replaced by text that attacks the sinks."""

from hypothesis import strategies as st

from tests.report import fixtures

PIECES = (
    "|", "`", "```", "\\", "\n", "\r\n\r\n", "<!-- grader-gate {\"v\":1} -->", "</details>", "</script>", "<b>",
    "</sub>",
    "![a](https://evil.example/p.png)", "[a](javascript:x)", "@alice", "#12", "GH-9", "deadbeefcafe",
    "www.evil.example",
    "::error::x", "##[error]x", "\u202e", "\u200b", "\x00", "\x1b[2J", "{{ 7*7 }}", "{% raw %}", "🙂", "\ud800",
    "word", " ", "&lt;", "'", '"', "- ", "# ", "---", "y" * 400, "e\u0301" * 50, "@" * 120,
)  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), min_size=1, max_size=8).map("".join)
_FINDING = (
    "sentence",
    "case",
    "expected",
    "base",
    "head",
    "reason",
    "before",
    "after",
    "suggestion",
    "mutator",
    "claim",
)


def poison(result, draw):
    """The same result with hostile text in each foreign field."""
    data = result.model_dump()
    for field in ("headline", "config_path", "key", "tool_version", "policy_digest"):
        data[field] = draw()
    data["base"]["name"], data["head"]["name"] = draw(), draw()
    data["report_url"] = draw()
    for suite in data["suites"]:
        for field in ("name", "grader", "kind", "baseline", "contract_false_accept"):
            suite[field] = draw()
        suite["why"] = (draw(), draw())
        suite["served_models"] = (draw(),)
        suite["certainty"]["gray"] = (draw(),)
        for change in suite["changes"]:
            change["what"], change["detail"] = draw(), draw()
        for row in suite["audits"]:
            row["note"] = draw()
        for row in suite["mutators"]:
            row["mutator"] = draw()
        for row in suite["checks"]:
            row["check"] = draw()
        for found in suite["findings"]:
            found["suite"], found["grader"] = suite["name"], suite["grader"]
            for field in _FINDING:
                if found[field] is not None:
                    found[field] = draw()
            if found["location"]:
                found["location"]["path"] = draw()
    for goalpost in data["goalposts"]:
        goalpost["what"], goalpost["detail"] = draw(), draw()
    for notice in data["notices"]:
        notice["message"] = draw()
    data["next_steps"] = (draw(), draw())
    return type(result).model_validate(data)


@st.composite
def hostile_results(draw, examples=("fail", "error", "pass", "report_mode", "not_applicable")):
    texts = draw(st.lists(HOSTILE, min_size=3, max_size=12))
    made = fixtures.EXAMPLES[draw(st.sampled_from(examples))]()
    turn = iter(range(10**9))
    return poison(made, lambda: texts[next(turn) % len(texts)])
