"""Salient numbers: what counts, what does not, and how the changed one is written."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.suite.mutators.numbers import salient
from grader_gate.suite.mutators.numerals import corrupted, parse

from .helpers import run, variants


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Step 2, v3.11.7, Figure 4, RFC 2616, utf8, sha256, #12 and 5 V", ["5"]),
        ("Steps 2 and 3 need 4 bulbs", ["4"]),
        ("2013 the war began", []),
        ("2000 people came", ["2000"]),
        ("It weighs 1750 kg", ["1750"]),
        ("In March 2024, on 3 March or March 3rd, 2024", []),
        ("2024-01-31 or 31/1/2024", []),
        ("at 12:30, 5 pm or 7 AM", []),
        ("3/4 or 1½", []),
        ("1e-5, 1.5×10^5, 2^3, x**2, 10⁵", []),
        ("10-14 days, 10 to 14 V, between 3 and 5", []),
        ("555-1234 or +1 555 123 4567", []),
        ("scores 3:1", []),
        ("192.168.0.1", []),
        ("the 1970s and her 20s", []),
        ("1. First. 2. Second takes 3 days", ["3"]),
        ("The answer is 14. Then 2. Done", ["14", "2"]),
        ("1) ask\n2) wait", []),
        ("- 5 apples", ["5"]),
        ("第3章需要14天", ["14"]),
        ("2024年3月5日", []),
        ("-5 °C", ["5"]),
        ("14-day window, 3-D", ["14"]),
        ("costs $5, €7.50, 9 EUR", ["5", "7.50", "9"]),
        ("50 % and 60 percent", ["50", "60"]),
        ("a Boeing 747 and Windows 11", []),
        ("(Smith, 2020) says 5 [3]", ["5"]),
        ("f(2) and a[0] and 4x and 2(3)", []),
        ("Sentence 1: Good.", []),
        ("two bulbs, one gap", ["two"]),
        ("two or three, twenty-one, one hundred and five", []),
        ("two hundred volts", ["two"]),
        ("twenty-five and two-thirds", []),
        ("four-day trip", ["four"]),
        ("1 000 V", []),
        ("１４日間", []),
        ("１４個", ["１４"]),
        ("1٤ mixed", []),
        ("`5` and $x_5$ and 6", ["6"]),
        ("The answer is **42** or *7*.", ["42", "7"]),
        ("**1.** Open it.\n## 2. Close it.\n**Step 3:** wait 5 s", ["5"]),
        ("0" * 41, []),
        ("회로에 14일이 걸립니다. 2024년 3월 5일", ["14"]),
        ("Here are five ways, the following 3 facts and 4 costs.", ["4"]),
        ("x = 4z^2 and 10 m^3", ["10"]),
    ],
)
def test_which_numbers_are_salient(text, found):
    assert [number.text for number in salient(text)] == found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("10 V", "12 V"), ("0 V", "2 V"), ("1.5 volts", "1.8 volts"), (".5 V", ".7 V"), ("0,5 V", "0,7 V"),
        ("$1,299.00", "$1,558.80"), ("1.299,50 EUR", "1.559,40 EUR"),
        ("₹1,00,000", "₹1,20,000"), ("1'200 CHF", "1'440 CHF"),
        ("100 %", "80 %"), ("0.5 %", "0.7 %"),
        ("150 %", "180 %"), ("-5 °C", "-7 °C"), ("۱۴ روز", "۱۷ روز"),
        ("१४ दिन", "१७ दिन"),

        ("Twelve bulbs", "Fifteen bulbs"), ("twenty bulbs", "twenty-four bulbs"), ("two percent", "four percent"),
    ],
)  # fmt: skip
def test_the_changed_number_is_written_the_same_way(before, after):
    assert run("corrupt_number", before) == [after]


def test_a_declared_tolerance_is_exceeded():
    assert run("corrupt_number", "100 V", tolerance=0.5) == ["200 V"]
    assert run("corrupt_number", "100 V", tolerance=30.0) == ["160 V"]


@given(
    value=st.decimals(min_value=0, max_value=10**7, places=2, allow_nan=False),
    decimals=st.integers(0, 2),
    percent=st.booleans(),
    tolerance=st.one_of(st.none(), st.floats(0.001, 0.9)),
)
def test_the_change_is_clear_and_keeps_sign_and_decimals(value, decimals, percent, tolerance):
    form = parse(f"{value:.{decimals}f}")
    changed = corrupted(form, percent=percent, tolerance=tolerance)
    assert changed >= 0
    assert abs(changed - form.value) >= Decimal("0.2") * form.value
    assert changed != form.value
    assert round(changed, decimals) == changed
    if percent and form.value <= 100 and not tolerance and form.value > Decimal("0.05"):
        assert changed <= 100


@given(value=st.integers(0, 10**9), style=st.sampled_from(["", ",", "'", "\u202f"]), zero=st.sampled_from("0٠०０"))
def test_parse_and_write_are_inverse(value, style, zero):
    written = f"{value:,}".replace(",", style)
    written = "".join(chr(ord(zero) + int(c)) if c.isdigit() else c for c in written)
    form = parse(written)
    assert form.value == value
    assert form.write(form.value) == written


def test_all_numbers():
    assert run("corrupt_all_numbers", "1. It takes 14 days and $ 0.50 in Step 2.") == [
        "1. It takes 17 days and $ 0.60 in Step 2."
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("0.14 mg", ["1.40 mg"]), ("50 %", ["5 %"]), ("1,299 km", ["12,990 km"]), ("0 V and 3 V", ["0 V and 30 V"]),
        ("9 %", ["90 %"]), ("10 %", ["100 %"]), ("55 %", "a tenth of the percentage needs more decimals"),
    ],
)  # fmt: skip
def test_scale_number(before, after):
    assert run("scale_number", before) == after


@pytest.mark.parametrize(
    "text",
    [
        "5 V or 3 V",
        "3 + 4 = x",
        "9.5 out of 10",
        "5 and 3",
        "3 bulbs, 3 gaps",
        "5 V and 3 A",
        "only 5",
        "scale 3, 4 and 5",
    ],
)
def test_symmetric_numbers_are_not_swapped(text):
    assert run("swap_numbers", text) == "no two unequal numbers of one kind, or only joined ones (ranges, sums, lists)"


def test_swap_numbers():
    assert run("swap_numbers", "Shoes have 14 days, bags have 30 days.") == ["Shoes have 30 days, bags have 14 days."]
    assert run("swap_numbers", "Two boys met while four girls ran.") == ["Four boys met while two girls ran."]
    assert run("swap_numbers", "48 % say yes while 21 % say no.") == ["21 % say yes while 48 % say no."]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We add 3 and get 3 + 4 = 7 in 2 steps.", "We add 3 and get 3 + 4 = 9 in 2 steps."),
        ("Answer: 42, as 6 times 7 is it.", "Answer: 51, as 6 times 7 is it."),
        ("Take 2, then 5.", "Take 2, then 7."),
    ],
)
def test_wrong_final(before, after):
    assert run("wrong_final", before) == [after]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It takes 14 days.", "It takes 14 months."), ("It takes 1 Day.", "It takes 1 Month."),
        ("a 14-day trip", "a 14-month trip"),
        ("5mm wide", "5cm wide"), ("5 m long", "5 km long"), ("wait 5 min", "wait 5 h"),
        ("fourteen minutes", "fourteen days"),
        ("1.5 V at 2 A", "1.5 A at 2 A"), ("20 MB", "20 GB"), ("20 °C", "20 °F"), ("3 km/h", "3 m/s"),
        ("電圧は5Vです", "電圧は5Aです"),
        ("50mg/m³ in 2 hours", "50mg/m³ in 2 days"),
    ],
)  # fmt: skip
def test_unit_swap(before, after):
    assert run("unit_swap", before) == [after]


@pytest.mark.parametrize("text", ["the 1970s", "5 bulbs", "10 m^3/s", "Step 5 m", "`5 V`", "many days"])
def test_no_unit_to_swap(text):
    assert run("unit_swap", text) == "no number with a unit of the table"


def test_currency_swap_needs_the_tag():
    assert run("currency_swap", "It costs $5.") == "the case is not tagged `currency`"
    assert run("currency_swap", "It costs 5 €.", tags=("currency",)) == ["It costs 5 $."]


@pytest.mark.parametrize(
    ("text", "day", "month", "year"),
    [
        ("2024-01-31", "2024-02-07", "2024-02-29", "2025-01-31"),
        ("on March 3, 2024.", "on March 10, 2024.", "on April 3, 2024.", "on March 3, 2025."),
        ("on Dec. 31st, 2024", "on Jan. 7th, 2025", "on Jan. 31st, 2025", "on Dec. 31st, 2025"),
        ("29 February 2024", "7 March 2024", "29 March 2024", "28 February 2025"),
    ],
)
def test_date_shift(text, day, month, year):
    assert variants("date_shift", text) == {"day": day, "month": month, "year": year}


@pytest.mark.parametrize("text", ["in 2024", "March 2024", "2024-13-40", "`2024-01-31`", "May 5"])
def test_no_full_date(text):
    assert run("date_shift", text) == "no full date"


def test_number_form():
    assert variants("number_form", "It has 3 gaps, 1,000 volts and 50% loss.") == {
        "word": "It has three gaps, 1,000 volts and 50% loss.",
        "thousands": "It has 3 gaps, 1000 volts and 50% loss.",
        "percent": "It has 3 gaps, 1,000 volts and 50 percent loss.",
    }
    assert variants("number_form", "5000 people, 5 percent.") == {
        "thousands": "5,000 people, 5 percent.",
        "percent": "5000 people, 5%.",
    }
    assert run("number_form", "It is 3V, 4x + 5 and |x| < 10.") == "no number with another common form"
    assert run("number_form", "3 gaps", tags=("exact-match",)) == "the form of the answer counts in this case"
