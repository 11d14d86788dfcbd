"""Every mistake that a quickly written mutator makes, with the right value beside it."""

import pytest

from .helpers import run

NO_NUMBER = "no salient number"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("1. Refunds take 14 days.", ["1. Refunds take 17 days."]),
        ("0.14 mg", ["0.17 mg"]),
        ("99%", ["79%"]),
        ("007", ["009"]),
        ("[1]: 14 days", ["[1]: 17 days"]),
        ("H2O", NO_NUMBER),
        ("GPT-4", NO_NUMBER),
        ("1st", NO_NUMBER),
        ("3/4", NO_NUMBER),
        ("x.io/v2", NO_NUMBER),
        ("`x[0]`", NO_NUMBER),
        ("١٤", ["١٧"]),
        ("½", NO_NUMBER),
        ("fourteen", ["seventeen"]),
        ("1,299", ["1,559"]),
        ("9", ["11"]),
    ],
)
def test_corrupt_number(text, right):
    assert run("corrupt_number", text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Use 5 mg, e.g. Aspirin.", "fewer than two sentences"),
        ("Dr. Smith approved it.", "fewer than two sentences"),
        ("1. Open the app. 2. Click refund.", ["1. Open the app."]),
        ("Run this. ```\nprint('a. b')\n```", ["Run this."]),
        ("```\nprint('a. b')\n```", "fewer than two sentences"),
        ("今天天气好。我们出去吧！你呢？", ["今天天气好。我们出去吧！"]),
        ('He said "stop." Then he left.', ['He said "stop."']),
        ("It needs 3.5 V. Then it works.", ["It needs 3.5 V."]),
    ],
)
def test_drop_last_sentence(text, right):
    assert run("drop_last_sentence", text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("So it is [1, 2].", ["So it is."]),
        ("So it is [1-3].", ["So it is."]),
        ("So it is [^1].", ["So it is."]),
        ("So it is [ 3 ].", ["So it is."]),
        ("So it is (Smith, 2020).", ["So it is."]),
        ("So it is (Smith et al., 2020; Jones & Low, 2021a).", ["So it is."]),
        ("So it is 【4†source】.", ["So it is."]),
        ("So it is<sup>1</sup>.", ["So it is."]),
        ("14 days [1].", ["14 days."]),
        ("14 days [1][2], free [3].", ["14 days, free."]),
        ("It is true[1]. Then [2] too.", ["It is true. Then too."]),
        ("a[0] = 3", "no citation"),
        ("a[0][1] + b[2] and array[0].", "no citation"),
        ("[1](http://x)", "no citation"),
        ("- [x] done\n- [ ] open", "no citation"),
        ("- [1] The handbook", "no citation"),
        ("L = [1, 2]", "no citation"),
    ],
)
def test_strip_citations(text, right):
    assert run("strip_citations", text) == right


@pytest.mark.parametrize("text", ["Yes", "42", "No."])
def test_truncation_needs_something_to_cut(text):
    assert run("truncate_half", text) == "fewer than 8 words"


def test_truncation_keeps_combining_marks_with_their_letter():
    text = "เป็นวงจรปิดที่มีแบตเตอรี่อยู่ด้วย"
    (half,) = run("truncate_half", text)
    assert text.startswith(half)
    assert half == "เป็นวงจรปิดที่มี"


def test_truncation_closes_the_code_it_cuts():
    assert run("truncate_half", "Run this now please: ```py\na = 1\nb = 2\nc = 3\n``` and see") == [
        "Run this now please: ```py\na = 1\n```"
    ]


def test_truncation_leaves_no_comma_at_the_end():
    assert run("truncate_half", "One two three, four; five six seven eight.") == ["One two three, four"]
