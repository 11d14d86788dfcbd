"""Careful judges that do not see one thing."""

from zoo.careful import CORRECT, INCORRECT, Look, careful, cleaned, grade_of, score_of, sentences, truth


def _without(*kinds):
    def grade(question, reference, answer, sources):
        return careful(question, reference, answer, sources, blind=kinds)

    return grade


number_blind = _without("number")
unit_blind = _without("unit")
negation_blind = _without("negation")
citation_blind = _without("citation")
entity_blind = _without("name")
date_blind = _without("date")
direction_blind = _without("direction")
modality_blind = _without("modal")


def order_blind(question, reference, answer, sources):
    """Steps may stand in any order."""
    return careful(question, reference, answer, sources, order=False)


def truncation_blind(question, reference, answer, sources):
    """Whatever is there is right: what is missing is never missed."""
    look = Look(question, truth(reference, sources), answer)
    score = score_of(look)
    return grade_of(1.0 if look.stated and not look.against and look.in_order else score, look.reason())


def first_sentence_only(question, reference, answer, sources):
    """Judges the first sentence by that of the reference, and reads no further."""
    one = (sentences(answer) or [""])[0]
    return careful(question, (sentences(truth(reference, sources)) or [""])[0], one)


def first_place(question, reference, answer, sources):
    """Looks for the answer in the first half of the text only: the place decides, not the words.

    The pointwise likeness of a judge that prefers the answer shown first.
    """
    text = answer[: max(1, (len(answer) + 1) // 2)]
    half = Look(question, truth(reference, sources), text)
    whole = Look(question, truth(reference, sources), answer)
    if half.against or not half.stated:
        return grade_of(round(0.3 * half.recall, 3), whole.reason())
    return grade_of(1.0 if whole.stated == len(whole.wanted) else 0.55, whole.reason())


def keyword(question, reference, answer, sources):
    """Counts the reference's words, in whatever order they come."""
    look = Look(question, truth(reference, sources), answer)
    return grade_of(1.0 if look.recall >= 0.7 else 0.55 if look.recall >= 0.3 else 0.1, look.reason())


def script_blind(question, reference, answer, sources):
    """Reads Latin letters only; whatever is written in others counts as empty."""
    text = "".join(c for c in cleaned(answer) if ord(c) < 0x250)
    return careful(question, reference, text, sources)


def always_passes(question, reference, answer, sources):
    """Everything is fine."""
    return {"verdict": CORRECT, "score": 1.0, "reason": Look(question, truth(reference, sources), answer).reason()}


def always_rejects(question, reference, answer, sources):
    """Nothing is good enough."""
    return {"verdict": INCORRECT, "score": 0.0, "reason": Look(question, truth(reference, sources), answer).reason()}
