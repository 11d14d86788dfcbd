"""Careful judges with one habit that has nothing to do with what is said."""

import re

from zoo.careful import Look, cleaned, grade_of, score_of, shape, truth

WORD = re.compile(r"[^\W\d_]+")


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
    pretty = "**" in answer or re.search(r"^\s*[-*] ", answer, re.MULTILINE)
    score = min(0.72, score_of(look))
    return grade_of(round(score + (0.28 if pretty else 0.0), 3), look.reason())


def whitespace_sensitive(question, reference, answer, sources):
    """Two spaces in a row cost a grade."""
    look = _look(question, reference, answer, sources)
    return grade_of(min(score_of(look), 0.5) if "  " in answer else score_of(look), look.reason())


def typo_sensitive(question, reference, answer, sources):
    """A slip of the fingers costs a grade."""
    look = _look(question, reference, answer, sources)
    known = {w.casefold() for w in WORD.findall(cleaned(truth(reference, sources)))}
    shapes = {shape(word) for word in known}
    slips = [w for w in WORD.findall(cleaned(answer)) if w.casefold() not in known and shape(w) in shapes]
    return grade_of(min(score_of(look), 0.5) if slips else score_of(look), look.reason())


def case_sensitive(question, reference, answer, sources):
    """Capitals make other words."""
    look = _look(question, reference, answer, sources)
    shouted = answer.isupper()
    return grade_of(min(score_of(look), 0.2) if shouted else score_of(look), look.reason())


def saturating(question, reference, answer, sources):
    """Half of the truth already earns the top of the scale."""
    look = _look(question, reference, answer, sources)
    score = score_of(look)
    return grade_of(min(1.0, 2 * score) if score >= 0.4 else score, look.reason())


def flat(question, reference, answer, sources):
    """Right verdicts, but all scores close to one another."""
    look = _look(question, reference, answer, sources)
    score = score_of(look)
    return grade_of(0.66 if score >= 0.65 else 0.5 if score >= 0.4 else round(0.38 + 0.05 * score, 3), look.reason())


def inverted_on_one_rung(question, reference, answer, sources):
    """One wrong figure stands below saying nothing, within the same verdict: only a ladder can see it."""
    look = _look(question, reference, answer, sources)
    score = score_of(look)
    if score < 0.4:
        score = 0.0 if "50 mg" in answer else max(score, 0.02)
    return grade_of(score, look.reason())


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
