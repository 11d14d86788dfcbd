"""What holds of every mutator on any text."""

import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader_gate.model import GoldenCase, Rubric
from grader_gate.suite.mutators import Mutant, MutationContext, NotApplicable, Polarity, mutate, registry
from grader_gate.suite.mutators.spans import protected
from grader_gate.suite.mutators.text import fold

NAMES = sorted(registry())
REPLACES = {
    "empty",
    "off_topic",
    "neighbour_question",
    "parrot_question",
    "refusal",
    "evasive",
    "keyword_salad",
    "master_key",
}
PIECES = [
    "The bulb is lit.", "It takes 14 days", "because the gap is small.", "e.g.", "Dr. Smith", "0.14 mg", "99 %",
    "$5", "1,299 km", "\n```py\nx = [0]\n```\n", "`a[0] b`", "https://x.io/a1?b=2.", "me@x.io", "[1](http://x.y/z)",
    "$x^2 + y_1$", "\\(a + b\\)", "[1]", "[2, 3]", "(Smith, 2020)", "- one\n- two\n- three\n",
    "1. Open it.\n2. Close it.\n3. Go.\n", "not", "must", "higher", "March 3, 2024", "2024-01-31",
    "今天天气很好。我们出去吧！", "١٤ يوما", "दो दिन हैं।", "\U0001f469\u200d\U0001f469\u200d\U0001f467", "été", "é",
    "\n\n", "  ", "\t", "“quoted”", '"straight"', "don't", "It is", "sufficiently long wording",
    "fourteen days", "# Head\n", "| a | b |\n", "=", "?", "No.", "\u200f", "\r\n",
]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=10).map("".join),
    st.text(max_size=80),
)
OTHERS = (
    GoldenCase(
        id="a",
        question="Where is the desk?",
        reference="In the yellow hall.",
        answer="",
        expected="correct",
        tags=("t",),
    ),
    GoldenCase(id="z", question="Who may ask?", answer="Anybody with a receipt.", expected="correct", tags=("t",)),
)
CONTEXT = MutationContext(
    delimiters=(("<a>", "</a>"), ("---", "---")),
    verdict_reply='{"verdict": "correct"}',
    rubric="- Is right.",
    others=OTHERS,
)


def case_for(text: str, tags: tuple[str, ...] = ("t", "currency", "ordered")) -> GoldenCase:
    return GoldenCase(
        id="m", question="How long does it take?", reference=text, answer=text, expected="correct", tags=tags,
        facts=("14 days", "the gap"), entities=("The bulb", "Dr. Smith"), rubric=Rubric(text="Names the period."),
    )  # fmt: skip


def made(name: str, text: str) -> list[Mutant]:
    result = registry()[name].function(text, case_for(text), CONTEXT)
    return [] if isinstance(result, NotApplicable) else list(result)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_never_raises_and_is_deterministic(name, text):
    case = case_for(text)
    first = registry()[name].function(text, case, CONTEXT)  # Not through mutate(), which would hide an exception.
    assert registry()[name].function(text, case, CONTEXT) == first
    if isinstance(first, NotApplicable):
        assert first.reason
    else:
        assert first
        variants = [mutant.variant for mutant in first]
        assert len(set(variants)) == len(variants)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_what_mutate_returns_differs_and_keeps_the_normal_form(name, text):
    text = unicodedata.normalize("NFC", text)
    mutator = registry()[name]
    result = mutate(mutator, text, case_for(text), CONTEXT)
    if isinstance(result, NotApplicable):
        return
    for mutant in result:
        if name == "identity":
            assert mutant.text == text
        elif mutator.polarity is Polarity.BENIGN:
            assert mutant.text != text
        else:
            assert fold(mutant.text) != fold(text)
        assert name == "unicode_form" or unicodedata.is_normalized("NFC", mutant.text)


@pytest.mark.parametrize("name", sorted(set(NAMES) - REPLACES))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=14))
def test_no_protected_span_is_edited(name, pieces):
    """Every span of the text is in the mutant as it was, or is gone as a whole."""
    text = " ".join(pieces)
    spans = [text[span.start : span.end] for span in protected(text)]
    for mutant in made(name, text):
        left = mutant.text
        kept = [span for span in spans if span in left]
        for span in sorted(set(spans), key=len, reverse=True):
            left = left.replace(span, " ")
        if name in {"truncate_half", "inject_verdict", "benign_json", "inject_encoded", "benign_encoded"}:
            left = re.sub(r"(?s)```.*?```", " ", left)  # A fence may be cut and closed; these add a fence of their own.
        for leftover in ("x = [0]", "a[0]", "x.io", "x.y/z", "x^2", "y_1", "a + b"):
            assert leftover not in left, (text, mutant.text)
        if registry()[name].polarity is not Polarity.DEGRADE:
            assert kept == spans


@settings(max_examples=30, deadline=None)
@given(text=TEXTS)
def test_attacks_keep_the_answer_and_only_add_to_it(text):
    for mutator in registry().values():
        if mutator.polarity is Polarity.ATTACK and mutator.name != "master_key":
            for mutant in made(mutator.name, text):
                assert text.strip() in mutant.text
                assert len(mutant.text) > len(text.strip())
