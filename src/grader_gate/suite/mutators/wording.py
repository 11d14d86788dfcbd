"""One word that turns the claim: an antonym, a modal, an exchanged name, cause for effect, steps reversed."""

from __future__ import annotations

import re

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.lexicon import Lexicon, language_of, lexicon
from grader_gate.suite.mutators.lists import items_of
from grader_gate.suite.mutators.sentences import sentence_at, sentences
from grader_gate.suite.mutators.spans import is_protected
from grader_gate.suite.mutators.text import find_phrase, match_case, splice

LONGEST_CAUSE = 30
"""Words of a sentence beyond which "because" seldom governs all that stands before it."""
_NO_WORDS = NotApplicable("no word list for the case's language")
_SYMMETRIC = re.compile(r"\s*(?:,|and|or|&|/|[-–—]|to|with|versus|vs\.?|plus)\s*(?:the|a|an)?\s*", re.I)


def antonym(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The first word of the list of pairs, exchanged for its opposite."""
    words = lexicon(language_of(case))
    if words is None:
        return _NO_WORDS
    present = {word.casefold() for word in re.findall(r"[^\W\d_]+", text)}
    for match in re.finditer(r"(?<![\w'’-])[^\W\d_]+(?![\w'’-])", text):
        other = _opposite(text, match, words)
        if other is None or other in present or is_protected(text, *match.span()):
            continue
        edits = [(*match.span(), match_case(other, match[0]))]
        if other == "different" and (the := re.search(r"\b(the)\s+$", text[: match.start()], re.I)):
            edits.append((*the.span(1), match_case("a", the[1])))
        if article := re.search(r"\b(an?)\s+$", text[: match.start()], re.I):
            fitting = "an" if other[0] in words.grammar["article_vowels"] else "a"
            edits.append((*article.span(1), match_case(fitting, article[1][0])))
        return [Mutant(splice(text, edits))]
    return NotApplicable("no word of the antonym list in a plain place")


def _opposite(text: str, match: re.Match[str], words: Lexicon) -> str | None:
    word = match[0].casefold()
    before = [
        w.casefold()
        for w in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text[max(0, match.start() - 80) : match.start()])
    ]
    guard = words.guarded.get(word)
    other = guard["other"] if guard else words.antonyms.get(word)
    if other is None or (guard and (not before or before[-1] not in guard["after"])):
        return None
    if before and before[-1] in words.blocked_after.get(word, words.blocked_after["*"]):
        return None
    negated = any(w in words.grammar["negations"] or w.endswith(("n't", "n’t")) for w in before[-3:])
    return None if negated else str(other)


def modality(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The first word of necessity, certainty or amount, made weaker or stronger than it is."""
    words = lexicon(language_of(case))
    if words is None:
        return _NO_WORDS
    pairs = {left.casefold(): right for left, right in words.modality}
    body = "|".join(re.escape(left) for left in sorted(pairs, key=len, reverse=True))
    for match in re.finditer(rf"(?<![\w'’-])(?:{body})(?![\w'’-])", text, re.I):
        word = match[0].casefold()
        month = match[0] == "May" and re.search(r"\S\s+$|^$", text[: match.start()]) is not None
        following = text[match.end() :]
        if is_protected(text, *match.span()) or month or re.match(r"\s+not\b", following):
            continue
        if (word == "could" and re.search(r"\byou\s+$", text[: match.start()], re.I)) or re.match(
            r"\s+you\b", following
        ):
            continue  # A polite request.
        start, end = sentence_at(text, match.start(), language_of(case))
        if text[start:end].rstrip('"”’*_)').endswith(("?", "？")):
            continue
        if word == "up to" and not re.match(r"\s+(?:\d|[$€£])", following):
            continue
        if word == "some" and not re.match(r"\s+(?:of\b|people\b|[a-z]+s\b)", following):
            continue
        if word == "often" and re.search(r"\bhow\s+$", text[: match.start()], re.I):
            continue
        if word in ("only", "all", "some", "every") and re.search(
            r"\b(?:not|no|n['’]t|if|at)\s+$", text[: match.start()], re.I
        ):
            continue
        return [Mutant(splice(text, [(*match.span(), match_case(pairs[word], match[0]))]))]
    return NotApplicable("no word of necessity, certainty or amount")


def swap_entities(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Exchange the first two declared entities that the text names, wherever they stand."""
    named: list[tuple[str, tuple[int, int]]] = []
    for entity in sorted(set(case.entities), key=lambda name: (-len(name), name)):
        place = _free(text, entity, [span for _, span in named])
        if place is not None:
            named.append((entity, place))
    named.sort(key=lambda pair: pair[1])
    if len(named) < 2:
        return NotApplicable("fewer than two declared entities in the text")
    (one, first), (other, second) = named[0], named[1]
    if _SYMMETRIC.fullmatch(text[first[1] : second[0]]):
        return NotApplicable("the two entities stand in a symmetric phrase")
    edits: list[tuple[int, int, str]] = []
    for entity, replacement in ((one, other), (other, one)):
        start = 0
        while (span := find_phrase(text, entity, start)) is not None:
            start = span[1]
            if not is_protected(text, *span) and not any(a < span[1] and span[0] < b for a, b, _ in edits):
                edits.append((*span, match_case(replacement, text[span[0]]) if _opens(text, span[0]) else replacement))
    return [Mutant(splice(text, edits))]


def _free(text: str, phrase: str, taken: list[tuple[int, int]]) -> tuple[int, int] | None:
    """The first place of a phrase outside the places of longer ones and outside protected spans."""
    start = 0
    while (span := find_phrase(text, phrase, start)) is not None:
        if not any(a < span[1] and span[0] < b for a, b in taken) and not is_protected(text, *span):
            return span
        start = span[1]
    return None


def _opens(text: str, start: int) -> bool:
    return re.search(r"(?:^|[.!?]\s+)$", text[:start]) is not None


def reverse_steps(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The steps of a numbered list in reverse, the numbers where they are."""
    if not {"ordered", "steps", "sequence"} & set(case.tags):
        return NotApplicable("the case is not tagged `ordered`")
    items = items_of(text)
    if len(items) < 3 or items[0].number is None:
        return NotApplicable("no numbered list of three steps")
    bodies = [text[item.body : item.end] for item in items]
    contents = [body.rstrip() for body in bodies]
    edits = [
        (item.body, item.body + len(own), other)
        for item, own, other in zip(items, contents, reversed(contents), strict=True)
    ]
    return [Mutant(splice(text, edits))]


def reverse_cause(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Cause and effect exchanged around the only "because" of a sentence."""
    if language_of(case) != "en":
        return _NO_WORDS
    for start, end in sentences(text):
        sentence = text[start:end]
        causes = list(re.finditer(r",?\s+because\s+(?!of\b)", sentence, re.I))
        if len(causes) != 1 or sentence.endswith("?"):
            continue
        effect, cause = sentence[: causes[0].start()], sentence[causes[0].end() :]
        tail = re.search(r"[\s.!;:)\"”'’*_]*$", cause)
        closing = tail[0] if tail else ""
        cause = cause[: len(cause) - len(closing)]
        lead = re.match(r"(?:[\s\"“‘'*_>+•(-]|\d{1,3}[.)]\s)*", effect)
        opening = lead[0] if lead else ""
        effect = effect[len(opening) :]
        if min(len(effect.split()), len(cause.split())) < 3 or re.search(r"\b(?:this|that|it)\s+is$", effect, re.I):
            continue
        if len(sentence.split()) > LONGEST_CAUSE or ";" in sentence:
            continue
        swapped = f"{opening}{_opened(cause, effect)}{causes[0][0]}{_lowered(effect)}{closing}"
        return [Mutant(splice(text, [(start, end, swapped)]))]
    return NotApplicable("no sentence with a cause and an effect around `because`")


def _opened(clause: str, model: str) -> str:
    """A clause as it opens a sentence; code and addresses keep their letters."""
    return clause if is_protected(clause, 0, 1) else match_case(clause, model[0])


def _lowered(clause: str) -> str:
    """A clause as it stands inside a sentence: articles and pronouns lose their capital, names keep it."""
    common = (
        "The|An?|It|This|That|These|Those|They|There|He|She|We|You|If|When|In|On|At|For|Both|All|Each|Its|Their|My|Your"
        "|Our|His|Her|Some|Many|Most|Every|No|[A-Z][a-z]+ing"
    )
    return re.sub(rf"^(?:{common})\b", lambda word: word[0].lower(), clause)
