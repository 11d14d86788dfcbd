"""Sentences, protected spans, lists and graphemes: what the mutators stand on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader_gate.suite.mutators.sentences import sentences
from grader_gate.suite.mutators.spans import outside, protected, tokens
from grader_gate.suite.mutators.text import contains_phrase, graphemes, hash_order, jaccard, overlap

from .helpers import run, variants
from .test_properties import TEXTS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Use 5 mg, e.g. Aspirin. Then rest.", ["Use 5 mg, e.g. Aspirin.", "Then rest."]),
        ("Dr. Smith and Mr. J. K. Low agree. So do I.", ["Dr. Smith and Mr. J. K. Low agree.", "So do I."]),
        (
            "It takes approx. 5 days. See No. 7 and Fig. 3. Done.",
            ["It takes approx. 5 days.", "See No. 7 and Fig. 3.", "Done."],
        ),
        ("1. Open the app. 2. Click refund.", ["1. Open the app.", "2. Click refund."]),
        ("a) Open it. b) Close it.", ["a) Open it.", "b) Close it."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("He asked 'why?' and left. Then slept.", ["He asked 'why?' and left.", "Then slept."]),
        ('She said, "Can you?" and I did. Yes.', ['She said, "Can you?" and I did.', "Yes."]),
        ("**Bold.** Next one.", ["**Bold.**", "Next one."]),
        ("See https://x.io/a.b. Then `a. B` works. Go.", ["See https://x.io/a.b.", "Then `a. B` works.", "Go."]),
        ("The switch\nis open. The bulb\nis off.", ["The switch\nis open.", "The bulb\nis off."]),
        ("# Head\nText one. Two.\n\n- item\n- item two", ["# Head", "Text one.", "Two.", "- item", "- item two"]),
        ("今天天气好。我们出去吧！你呢？", ["今天天气好。", "我们出去吧！", "你呢？"]),
        ("مرحبا. كيف حالك؟ أنا بخير.", ["مرحبا.", "كيف حالك؟", "أنا بخير."]),
        ("यह है। वह नहीं।", ["यह है।", "वह नहीं।"]),
        ("Hello!! Wow?! Really... Yes.", ["Hello!!", "Wow?!", "Really...", "Yes."]),
        ("it is open. the bulb is off.", ["it is open.", "the bulb is off."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text, found):
    assert [text[start:end] for start, end in sentences(text)] == found


@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
def test_sentences_cover_the_text_in_order_and_cut_no_span(text):
    position = 0
    for start, end in sentences(text):
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        assert not any(span.start < edge < span.end for span in protected(text) for edge in (start, end))
        position = end
    assert not text[position:].strip()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("costs $5 and $10, or $5-$10", []),
        ("let $x + y$ be $5$ or $a$ or $$z$$", ["$x + y$", "$5$", "$a$", "$$z$$"]),
        (
            "\\(a + b\\) and \\[c\\] and \\begin{align}x\\end{align}",
            ["\\(a + b\\)", "\\[c\\]", "\\begin{align}x\\end{align}"],
        ),
        ("`code` and ``a ` b`` but ` no", ["`code`", "``a ` b``"]),
        (
            'see [the page](http://a.b/c_(d)) or ![img](x.png "t")',
            ["[the page](http://a.b/c_(d))", '![img](x.png "t")'],
        ),
        ("[text][ref] but not [1][2]", ["[text][ref]"]),
        ("(see http://a.b/c_(d)).", ["http://a.b/c_(d)"]),
        ("write me@x.io. or <mailto:a@b.c>", ["me@x.io", "<mailto:a@b.c>"]),
        ("go to x.io/v2, example.com or www.a.de!", ["x.io/v2", "example.com", "www.a.de"]),
        ("e.g. this and 3.14 and i.e. that", []),
        ("a\n```py\nx\n```\nb", ["```py\nx\n```"]),
        ("a\n~~~~\n```\nx\n~~~~\nb", ["~~~~\n```\nx\n~~~~"]),
        ("a\n```\nnever closed", ["```\nnever closed"]),
        ("Here: ```py\nx = 1\n``` done", ["```py\nx = 1\n``` done"]),
    ],
)
def test_protected_spans(text, found):
    assert [text[span.start : span.end] for span in protected(text)] == found


@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
def test_spans_and_the_rest_make_up_the_text(text):
    parts = sorted([(span.start, span.end) for span in protected(text)] + outside(text))
    assert "".join(text[start:end] for start, end in parts) == text
    assert "".join(tokens(text)).split() == "".join("".join(tokens(text))).split()


def test_tokens_keep_spans_whole():
    assert tokens("run `a b`, then [the page](http://x.y) now") == [
        "run",
        "`a b`,",
        "then",
        "[the page](http://x.y)",
        "now",
    ]


@pytest.mark.parametrize(
    ("text", "phrase", "there"),
    [
        ("It takes 14 days.", "14 days", True),
        ("It takes 114 days.", "14 days", False),
        ("It takes 1.14 days.", "14 days", False),
        ("It takes 14 daysx.", "14 days", False),
        ("It takes 14\nDAYS.", "14 days", True),
        ("需要14天。", "14天", True),
        ("14.5", "14", False),
        ("14.", "14", True),
        ("C++ and C#", "C++", True),
        ("text", "", False),
    ],
)
def test_contains_phrase(text, phrase, there):
    assert contains_phrase(text, phrase) is there


def test_graphemes_keep_families_and_marks_together():
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    assert graphemes(f"a{family}e\u0301b") == ["a", family, "e\u0301", "b"]


def test_likeness():
    assert jaccard("the cat sat", "The CAT ran") == 0.5
    assert jaccard("", "") == 0.0
    assert overlap("14 days", "Refunds take 14 days in all") == 1.0
    assert jaccard("今天好", "今天坏") == 0.5


@given(st.lists(st.text(max_size=5), max_size=12), st.text(max_size=5))
def test_hash_order_is_a_stable_permutation(words, salt):
    ordered = hash_order(words, salt)
    assert sorted(ordered) == sorted(words)
    assert hash_order(words, salt) == ordered


LIST = "Do this:\n1. Ask.\n   - nicely\n   - early\n2. Pack.\n3. Send.\n\nThat is all."


def test_drop_list_item_takes_what_is_nested_and_renumbers():
    assert run("drop_list_item", LIST) == ["Do this:\n1. Ask.\n   - nicely\n   - early\n2. Send.\n\nThat is all."]
    assert run("drop_list_item", "1. A\n2. B\n   - x\n3. C") == ["1. A\n2. C"]
    assert run("drop_list_item", "* A\n* B") == ["* A"]
    assert run("drop_list_item", "3. A\n2. B\n1. C") == ["3. A\n1. C"]
    assert run("drop_list_item", "1. A\n1. B\n1. C") == ["1. A\n1. C"]
    assert run("drop_list_item", "```\n- a\n- b\n```") == "no list of two items"
    assert run("drop_list_item", "- a\n\nText.\n\n- b") == "no list of two items"


def test_reverse_steps_keeps_numbers_and_nested_lines():
    assert run("reverse_steps", LIST, tags=("ordered",)) == [
        "Do this:\n1. Send.\n2. Pack.\n3. Ask.\n   - nicely\n   - early\n\nThat is all."
    ]
    assert run("reverse_steps", LIST) == "the case is not tagged `ordered`"
    assert run("reverse_steps", "1. A\n2. B", tags=("ordered",)) == "no numbered list of three steps"


def test_list_style():
    assert run("list_style", "1. A\n2. B") == ["- A\n- B"]
    assert run("list_style", "* A\n* B") == ["1. A\n2. B"]
    assert run("list_style", "1. A\n2. B", tags=("ordered",)) == "the order of the list matters"
    assert run("list_style", "1. A\n2. B\n\nSkip step 2.") == "the text refers to items by number"


def test_drop_fact_one_mutant_per_fact():
    text = "Refunds take 14 days. They are free. A box is needed."
    assert variants("drop_fact", text, facts=("14 days", "free", "missing")) == {
        "fact-1": "They are free. A box is needed.",
        "fact-2": "Refunds take 14 days. A box is needed.",
    }
    assert (
        run("drop_fact", "It takes 114 days. Yes.", facts=("14 days",))
        == "no sentence holds a declared fact, or every one does"
    )
    assert run("drop_fact", text) == "the case declares no facts"


def test_drop_first_sentence():
    assert run("drop_first_sentence", "1. Ask. 2. Send.") == ["2. Send."]


def test_a_sentence_without_content_is_not_what_is_dropped():
    assert run("drop_last_sentence", "It is open. It is lit. Hope this helps!") == ["It is open."]
    assert run("drop_last_sentence", "It is lit. Let me know!") == "fewer than two sentences"
    assert run("drop_first_sentence", "Sure! Here it is:\n1. Ask.\n2. Send.") == ["2. Send."]
    assert run("drop_first_sentence", "Sure! It is lit.") == "fewer than two sentences"


def test_truncate_half_counts_characters_where_there_are_no_spaces():
    assert run("truncate_half", "电池的正极通过导线连接到灯泡的一端。") == ["电池的正极通过导线"]
    assert run("truncate_half", "电池的正极。") == "fewer than 16 characters"


def test_truncate_half_never_cuts_an_address():
    assert run("truncate_half", "a b c [d e f](http://x.y/z) g h i") == ["a b c"]


def test_shift_citation():
    assert run("shift_citation", "A [1, 2] and b [3].") == ["A [2, 3] and b [1]."]
    assert run("shift_citation", "A [1] and b [1].") == "fewer than two cited numbers"
