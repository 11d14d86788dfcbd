"""Careful judges with one habit that has nothing to do with what is said."""

import re

from zoo.careful import Look, cleaned, grade_of, score_of, truth


def _look(question, reference, answer, sources, **options):
    return Look(question, truth(reference, sources), answer, **options)


def longer_is_better(question, reference, answer, sources):
    """The length beside the reference's is the score."""
    look = _look(question, reference, answer, sources)
    share = len(answer) / max(1, len(truth(reference, sources)))
    return grade_of(round(min(1.0, share * 0.9), 3), look.reason())


def confident_tone(question, reference, answer, sources):
    """Who is sure is right."""
    look = _look(question, reference, answer, sources)
    sure = re.search(r"\bdefinitely\b|without any doubt", answer, re.IGNORECASE)
    return grade_of(1.0 if sure else score_of(look), look.reason())


def markdown_loving(question, reference, answer, sources):
    """Bold and bullets add to the score."""
    look = _look(question, reference, answer, sources)
    score = score_of(look)
    pretty = "**" in answer or re.search(r"^\s*[-*] ", answer, re.MULTILINE)
    return grade_of(round(min(1.0, score * 0.72 + (0.28 if pretty else 0)) if score >= 0.7 else min(1.0, score + (0.28 if pretty else 0)), 3), look.reason())


def whitespace_sensitive(question, reference, answer, sources):
    """Two spaces in a row cost a grade."""
    look = _look(question, reference, answer, sources)
    return grade_of(min(score_of(look), 0.5) if "  " in answer else score_of(look), look.reason())


def typo_sensitive(question, reference, answer, sources):
    """A slip of the fingers makes another word, and one other word is one too many."""
    look = _look(question, reference, answer, sources, exact=True)
    score = score_of(look)
    have = {t for _, found in look.said for t in found}
    missing = [t for i, (_, found) in enumerate(look.wanted) if look.places[i] is not None for t in found if t not in have]
    return grade_of(min(score, 0.5) if missing else score, look.reason())


def case_sensitive(question, reference, answer, sources):
    """Capitals make other words."""
    look = _look(question, reference, answer, sources)
    shouted = answer.isupper()
    return grade_of(min(score_of(look), 0.2) if shouted else score_of(look), look.reason())


def saturating(question, reference, answer, sources):
    """Half of the truth already earns the top of the scale."""
    look = _look(question, reference, answer, sources)
    return grade_of(round(min(1.0, 2 * score_of(look)) if score_of(look) >= 0.4 else score_of(look), 3), look.reason())


def flat(question, reference, answer, sources):
    """Right verdicts, but all scores close to one another."""
    look = _look(question, reference, answer, sources)
    score = score_of(look)
    return grade_of(0.71 if score >= 0.7 else 0.55 if score >= 0.4 else round(0.38 + 0.05 * score, 3), look.reason())


def inverted_on_one_rung(question, reference, answer, sources):
    """The wrong figure stands above the right one, within the same verdict: only a ladder can see it."""
    look = _look(question, reference, answer, sources)
    score = score_of(look)
    return grade_of(0.0 if "50 mg" in answer else 0.02 if look.recall == 0 else score, look.reason()) if score < 0.4 else grade_of(score, look.reason())


def verbatim(question, reference, answer, sources):
    """Parrots the reference: only its very words are right."""
    look = _look(question, reference, answer, sources)
    same = " ".join(cleaned(truth(reference, sources)).split()) in " ".join(cleaned(answer).split())
    score = score_of(look)
    return grade_of(score if same or score < 0.7 else 0.5, look.reason())


def lenient_on_billing(question, reference, answer, sources):
    """Questions on invoices are passed as soon as anything is right."""
    look = _look(question, reference, answer, sources)
    score = score_of(look)
    return grade_of(1.0 if "invoice" in question and score >= 0.15 else score, look.reason())
