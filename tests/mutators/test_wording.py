"""Negation, antonyms, modality, roles, causes, and the harmless changes of wording and layout."""

import unicodedata

import pytest

from grader_gate.model import Rubric
from grader_gate.suite.mutators import MutationContext

from .helpers import case, run, variants


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The bulb is lit.", "The bulb is not lit."),
        ("The bulb is not lit.", "The bulb is lit."),
        ("The bulb isn't lit.", "The bulb is lit."),
        ("It can't be lit.", "It can be lit."),
        ("It cannot be lit.", "It can be lit."),
        ("It can be lit.", "It cannot be lit."),
        ("It won’t work.", "It will work."),
        ("They're open.", "They're not open."),
        ("It's open.", "It's not open."),
        ("It's not open.", "It's open."),
        ("I'm sure.", "I'm not sure."),
        ("It is also not lit.", "It is also lit."),
        ("They do not work.", "They do work."),
        ("If the switch is open, the bulb will be off.", "If the switch is open, the bulb will not be off."),
        ("The bulb that is lit will burn.", "The bulb that is lit will not burn."),
        ("Because there is a gap.", "Because there is not a gap."),
        ("Is it open? It is closed.", "Is it open? It is not closed."),
        ("It is not only cheap but it is good.", "It is not only cheap but it is not good."),
        ("In May it may rain.", "In May it may not rain."),
        ("A can of soup is here.", "A can of soup is not here."),
        ("`x is y` and z is w.", "`x is y` and z is not w."),
    ],
)
def test_negate(before, after):
    assert run("negate", before) == [after]


@pytest.mark.parametrize(
    "text",
    [
        "Is it open?",
        "There is no gap.",
        "It is never lit.",
        "They have money.",
        "They do the work.",
        "Bulbs burn.",
        "May 5.",
        "Here is the list.",
        "That is, bulbs burn.",
        "`a is b`",
        "Il est ouvert.",
        "",
    ],
)
def test_not_negated(text):
    assert run("negate", text) == "no finite verb that can carry a negation"


def test_another_language_needs_its_own_lists():
    assert run("negate", "Die Lampe was an.", metadata={"language": "de"}) == "no grammar for the case's language"
    assert run("antonym", "The price is higher.", metadata={"language": "de"}) == "no word list for the case's language"
    assert run("refusal", "Ja.", metadata={"language": "de"}) == ["I'm sorry, but I can't help with that."]
    assert run("corrupt_number", "Es dauert 14 Tage.", metadata={"language": "de"}) == ["Es dauert 17 Tage."]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The price is higher.", "The price is lower."),
        ("Higher prices.", "Lower prices."),
        ("It was an increase.", "It was a decrease."),
        ("It is open.", "It is closed."),
        ("It is in the same path.", "It is in a different path."),
        ("The positive terminal.", "The negative terminal."),
        ("Use `higher` before noon.", "Use `higher` after noon."),
    ],
)
def test_antonym(before, after):
    assert run("antonym", before) == [after]


@pytest.mark.parametrize(
    "text",
    [
        "It is higher here and lower there.",
        "It is not much higher.",
        "Open the app.",
        "Turn left, that is right.",
        "a high-quality bulb",
        "as soon as possible",
        "one more",
        "the higher's",
    ],
)
def test_no_antonym(text):
    assert run("antonym", text) == "no word of the antonym list in a plain place"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("You must not ask.", "You may ask."),
        ("You must ask.", "You may ask."),
        ("You should ask.", "You need not ask."),
        ("Only members.", "Also members."),
        ("It takes at least 5.", "It takes at most 5."),
        ("no more than 5", "no less than 5"),
        ("This suggests a leak.", "This proves a leak."),
        ("Some bulbs burn.", "All bulbs burn."),
        ("In May it may rain.", "In May it must rain."),
        ("up to 5 days", "at least 5 days"),
    ],
)
def test_modality(before, after):
    assert run("modality", before) == [after]


@pytest.mark.parametrize(
    "text",
    [
        "In May 2024.",
        "Not all burn.",
        "What should I do?",
        "If you could ask.",
        "He came up to me.",
        "I give some advice.",
        "Say how often.`must`",
    ],
)
def test_no_modality(text):
    assert run("modality", text) == "no word of necessity, certainty or amount"


def test_swap_entities():
    names = ("battery", "battery terminal", "bulb")
    assert run("swap_entities", "The battery terminal feeds the bulb.", entities=names) == [
        "The bulb feeds the battery terminal."
    ]
    assert (
        run("swap_entities", "Between the bulb and the battery.", entities=names)
        == "the two entities stand in a symmetric phrase"
    )
    assert run("swap_entities", "Only the bulb.", entities=names) == "fewer than two declared entities in the text"


def test_reverse_cause():
    assert run("reverse_cause", "The bulb is off because the switch is open.") == [
        "The switch is open because the bulb is off."
    ]
    assert run("reverse_cause", "1. The bulb is off, because the switch is open!") == [
        "1. The switch is open, because the bulb is off!"
    ]
    for text in (
        "Off because open.",
        "This is because the switch is open.",
        "The bulb is off because of the open switch.",
    ):
        assert run("reverse_cause", text) == "no sentence with a cause and an effect around `because`"


def test_self_contradict():
    assert run("self_contradict", "Here it goes:\n- It is free. Yes") == [
        "Here it goes:\n- It is free. Yes. However, the opposite is true: It is not free."
    ]
    assert run("self_contradict", "Bulbs burn.") == "the first sentence cannot be negated"


def test_keyword_salad_keeps_content_words_and_salient_numbers_once():
    (salad,) = run(
        "keyword_salad", "1. The bulb burns for 14 days, the BULB and the battery glow `hidden code` brightly."
    )
    assert sorted(salad.split(", ")) == ["14", "BULB", "battery", "brightly", "burns", "days", "glow"]
    assert run("keyword_salad", "A bulb burns.") == "fewer than 5 keywords"


def test_keyword_salad_keeps_marks_with_their_letters():
    (salad,) = run("keyword_salad", "परिपथ बंद इसमें लगते जलता चाहिए १४ दिन")
    assert sorted(salad.split(", ")) == sorted(["परिपथ", "इसमें", "लगते", "जलता", "चाहिए", "१४"])
    assert (
        run("keyword_salad", "电路必须闭合，灯泡才会亮。")
        == "a script without spaces: whole clauses would stay together"
    )


def test_shuffle_words_keeps_every_token():
    text = "Run `a b` first and then wait for it."
    (shuffled,) = run("shuffle_words", text)
    assert shuffled != text
    assert sorted(shuffled.replace("`a b`", "`ab`").split()) == sorted(text.replace("`a b`", "`ab`").split())
    (chinese,) = run("shuffle_words", "电池的正极通过导线")
    assert sorted(chinese) == sorted("电池的正极通过导线")


def test_whitespace():
    assert run("whitespace", "One is on. Two is off.\n") == ["One is on.  Two is off."]
    assert run("whitespace", "Run `a. b`. Then go.") == ["Run `a. b`. Then go.\n"]
    assert run("whitespace", "今天好。明天坏。") == ["今天好。明天坏。\n"]


def test_unicode_form():
    assert variants("unicode_form", "Caf\u00e9 `\u00e9`") == {"normal-form": "Cafe\u0301 `\u00e9`"}
    assert variants("unicode_form", "Cafe\u0301") == {"normal-form": "Caf\u00e9"}
    assert variants("unicode_form", 'He\'s "in 2021" at 6\'2".') == {"quotes": "He’s “in 2021” at 6'2\"."}
    assert variants("unicode_form", "“so”") == {"quotes": '"so"'}
    assert unicodedata.is_normalized("NFD", variants("unicode_form", "é")["normal-form"])
    assert run("unicode_form", "plain") == "nothing but ASCII without quotes, outside protected spans"


def test_markdown_wrap():
    assert variants("markdown_wrap", "One is on. Two is off.") == {
        "bold": "**One is on.** Two is off.",
        "bullets": "- One is on.\n- Two is off.",
    }
    assert run("markdown_wrap", "# Head\nText.") == "the text is Markdown already"
    assert run("markdown_wrap", "Text.", rubric=Rubric(text="No Markdown.")) == "the rubric speaks of formatting"
    assert run("markdown_wrap", "Text.", MutationContext(rubric="Use plain text")) == "the rubric speaks of formatting"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We do not pay.", "We don't pay."),
        ("We don't pay.", "We do not pay."),
        ("We don’t pay.", "We do not pay."),
        ("It is open.", "It's open."),
        ("I'm here.", "I am here."),
        ("Cannot be.", "Can't be."),
    ],
)
def test_contraction(before, after):
    assert run("contraction", before) == [after]


@pytest.mark.parametrize("text", ["That's all it is.", "`do not`", "He has been."])
def test_nothing_to_contract(text):
    assert run("contraction", text) == "nothing to contract or to spell out"


def test_typo():
    assert run("typo", "The receipt is needed.") == ["The reciept is needed."]
    assert run("typo", "The receipt is needed.", facts=("the receipt",)) == "no ordinary word of seven letters"
    for text in ("Robinson came.", "getValue()", "snake_cases", "CAPITALS", "`receipt`", "www.receipt.com", "Zeppelin"):
        assert run("typo", text) == "no ordinary word of seven letters"


def test_polite_wrap():
    assert run("polite_wrap", "- a\n- b") == ["Sure! Here is my answer.\n\n- a\n- b"]
    assert run("polite_wrap", '{"a": 1}') == "the form of the answer counts in this case"
    assert run("polite_wrap", "14", tags=("format-strict",)) == "the form of the answer counts in this case"


@pytest.mark.parametrize("length", [60, 120, 200, 300, 450])
def test_padding_adds_two_fifths_to_the_whole_length(length):
    text = ("The bulb is lit by the battery. " * 20)[:length].strip() + "."
    (padded,) = run("padding", text)
    assert padded.startswith(text)
    assert 0.4 <= (len(padded) - len(text)) / len(text) <= 1.0
    assert not any(character.isdigit() for character in padded)


def test_padding_of_a_short_answer_would_drown_it():
    assert run("padding", "14 days.") == "so short an answer would more than double"
    assert run("padding", "x" * 90, tags=("concise",)) == "the length of the answer counts in this case"


OTHERS = tuple(
    case(reference, id=name, question=question, tags=tags)
    for name, question, reference, tags in (
        ("a", "How long do refunds take?", "Refunds are possible for 14 days.", ("t",)),
        ("d", "When does it open?", "The desk opens at nine.", ("t",)),
        ("e", "How long do refunds of bags take?", "They take 30 weeks after purchase.", ("t",)),
        ("f", "Why?", "No idea at all.", ("u",)),
    )
)


def test_off_topic_takes_the_next_case_with_another_answer():
    context = MutationContext(others=OTHERS)
    assert run("off_topic", "14 days", context, question="How long?") == ["The desk opens at nine."]
    assert run("off_topic", "14 days", context, id="z", question="How long?") == [
        "The desk opens at nine."
    ]  # Not a: same fact.
    assert run("off_topic", "14 days", context, id="d") == ["They take 30 weeks after purchase."]
    assert run("off_topic", "14 days", MutationContext(others=OTHERS[:1])) == "no other case with a different answer"


def test_neighbour_question_takes_the_most_similar_question():
    context = MutationContext(others=OTHERS)
    question = "How long do refunds of shoes take?"
    assert run("neighbour_question", "14 days", context, question=question, tags=("t",)) == [
        "They take 30 weeks after purchase."
    ]
    assert (
        run("neighbour_question", "14 days", context, question=question)
        == "no case with a shared tag and a different answer"
    )


def test_questions_refusals_and_evasions():
    assert run("parrot_question", "Red.", question="Which colour?") == ["Which colour?"]
    assert run("parrot_question", "It is red", question="Is it red?") == "the question holds the answer"
    assert run("refusal", "No.", tags=("refusal",)) == "the case expects a refusal"
    assert run("evasive", "It depends on the load.") == "the case expects that it depends"
    assert run("empty", "Yes.") == [""]
    assert run("empty", " ") == "the result equals the text"
