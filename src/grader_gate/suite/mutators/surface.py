"""The same meaning in other words: number forms, contractions, a slip of the pen, politeness, padding."""

from __future__ import annotations

import re

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.attacks import appended, is_json
from grader_gate.suite.mutators.layout import is_format_strict
from grader_gate.suite.mutators.lexicon import Lexicon, language_of, lexicon, phrases
from grader_gate.suite.mutators.numbers import Number, salient
from grader_gate.suite.mutators.numerals import in_words
from grader_gate.suite.mutators.numeric import is_small
from grader_gate.suite.mutators.spans import is_protected
from grader_gate.suite.mutators.text import contains_phrase, match_case, splice

_STRICT = NotApplicable("the form of the answer counts in this case")
PADDING_LEAST, PADDING_MOST = 0.4, 1.0
"""How much longer padding makes an answer, as a share of its length."""


def number_form(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A small number in words, a thousands separator more or less, ``percent`` for ``%``: one mutant each."""
    if is_format_strict(case) or is_json(text):
        return _STRICT
    language = language_of(case)
    words = lexicon(language)
    numbers = salient(text, language)
    mutants = []
    if words is not None:
        small = next((n for n in numbers if _speakable(text, n, words)), None)
        if small is not None:
            opens = re.search(r"(?:^|[.!?]\s+)$", text[: small.start]) is not None
            word = in_words(int(small.form.value), "Xx" if opens else "x", language)
            mutants.append(Mutant(splice(text, [(small.start, small.end, word)]), "word"))
    if (large := next((n for n in numbers if _groupable(n)), None)) is not None:
        plain = "".join(c for c in large.text if c.isdecimal())
        form = plain if large.form.separator else f"{int(plain):,}"
        mutants.append(Mutant(splice(text, [(large.start, large.end, form)]), "thousands"))
    for number in numbers:
        if number.kind == "percent" and not number.word and number.unit in ("%", "percent"):
            start = text.index(number.unit, number.end)
            edit = (number.end, start + 1, " percent") if number.unit == "%" else (number.end, start + 7, "%")
            if not re.match(r"\w", text[edit[1] :]):
                mutants.append(Mutant(splice(text, [edit]), "percent"))
            break
    return mutants or NotApplicable("no number with another common form")


def _speakable(text: str, number: Number, words: Lexicon) -> bool:
    """Whether a small number may stand in words: no sign, symbol or hyphen touches it."""
    if number.word or number.kind in ("percent", "money") or not is_small(number) or number.form.width:
        return False
    if not number.text.isascii() or number.unit in words.symbols:
        return False
    # Only a counted noun after it tells a number in a sentence from one in a formula or a table.
    counted = re.match(r"[a-z]{3,}$", number.unit) and re.match(r"\s", text[number.end :])
    return bool(counted) and re.search(r"(?:^|[\w.,;:!?)\"”]\s+|[(\"“])$", text[: number.start][-8:]) is not None


def _groupable(number: Number) -> bool:
    """Whether an English thousands separator can be added or removed without doubt."""
    if number.word or number.form.decimals or number.form.width or not number.text.isascii():
        return False
    return (number.form.separator == "," and not number.form.indian) or (
        not number.form.separator and number.form.value >= 1000
    )


def contraction(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The first pair of words contracted, or the first contraction spelt out."""
    words = lexicon(language_of(case))
    if words is None or not words.contractions:
        return NotApplicable("no list of contractions for the case's language")
    other = {a.casefold(): b for pair in words.contractions for a, b in (pair, pair[::-1])}
    # "that's" and "there's" may stand for "has" as well, and "it is" at a clause's end is never contracted.
    forms = sorted((form for form in other if not form.endswith("'s")), key=len, reverse=True)
    body = "|".join(re.escape(form).replace("'", "['’]").replace(r"\ ", r"[ ]") for form in forms)
    for match in re.finditer(rf"(?<![\w'’-])(?:{body})(?![\w'’-])", text, re.I):
        spelt = match[0].casefold().replace("’", "'")
        full = " " in spelt and not spelt.endswith(" not")
        if is_protected(text, *match.span()) or (full and not re.match(r"\s+[^\W\d_]", text[match.end() :])):
            continue
        if match[0].isupper() and len(match[0]) > 3:
            continue
        # "Is it not": a verb before its subject keeps its full form.
        replacement = other[spelt]
        if replacement[0] != "I":
            replacement = match_case(replacement, match[0][0])
        return [Mutant(splice(text, [(*match.span(), replacement)]))]
    return NotApplicable("nothing to contract or to spell out")


def typo(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Two inner letters swapped in the middle one of the words of seven letters or more."""
    if is_format_strict(case) or is_json(text):
        return _STRICT
    kept = (*case.facts, *case.entities, *case.evidence)
    places = []
    for match in re.finditer(r"(?<![\w@#/\\.'’-])[^\W\d_]{7,}(?![\w@/\\'’(-]|\.\w)", text):
        word = match[0]
        if word != word.lower():
            continue  # Identifiers, acronyms and names.
        if is_protected(text, *match.span()) or any(contains_phrase(phrase, word) for phrase in kept):
            continue
        if (swap := _swap(word)) is not None:
            places.append((match.start() + swap, word[swap + 1] + word[swap]))
    if not places:
        return NotApplicable("no ordinary word of seven letters")
    start, letters = places[len(places) // 2]
    return [Mutant(splice(text, [(start, start + 2, letters)]))]


def _swap(word: str) -> int | None:
    """Where two unequal inner letters stand, the nearest to the middle; combining marks stay with their letter."""
    inner = range(1, len(word) - 2)
    usable = [i for i in inner if word[i] != word[i + 1] and word[i].isalpha() and word[i + 1].isalpha()]
    usable = [i for i in usable if word[i] < "\u1100" and word[i + 1] < "\u1100"]
    return min(usable, key=lambda i: (abs(i - len(word) // 2), i), default=None)


def polite_wrap(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A friendly sentence before the answer."""
    if is_format_strict(case) or is_json(text):
        return _STRICT
    if not text.strip():
        return NotApplicable("no answer")
    block = re.match(r"\s*(?:[-*+•#>|]|\d{1,3}[.)]\s|```|~~~)", text) is not None
    return [Mutant(f"{phrases(case)['polite_opener']}{chr(10) * 2 if block else ' '}{text}")]


def padding(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Sentences without content after the answer, 40 to 100 % of its length."""
    if is_format_strict(case) or is_json(text):
        return _STRICT
    if {"length", "length-limited", "concise", "brevity"} & {tag.casefold() for tag in case.tags}:
        return NotApplicable("the length of the answer counts in this case")
    room = len(text.strip()) * PADDING_MOST
    chosen: list[str] = []
    pool = sorted(map(str, phrases(case)["padding"]), key=len)
    if len(" ".join(pool[:2])) + 1 > room:
        return NotApplicable("so short an answer would more than double")
    while pool and (len(chosen) < 2 or len(" ".join(chosen)) < PADDING_LEAST * len(text)):
        used = len(" ".join(chosen)) + 2
        # The longest that still fits, but room for a second one is left.
        spare = room - used - (len(pool[0]) + 1 if not chosen and len(pool) > 1 else 0)
        fitting = [sentence for sentence in pool if len(sentence) <= spare]
        if not fitting:
            break
        pick = fitting[-1]
        chosen.append(pick)
        pool.remove(pick)
    separator = "\n\n" if "\n" in text.strip() else " "
    return [Mutant(appended(text.rstrip(), " ".join(chosen), separator))]
