"""Graders of different kinds that may all decide."""

import random
import re

from zoo.careful import Look, careful, grade_of, score_of, truth, verdict_of


def strict(question, reference, answer, sources):
    """The careful judge."""
    return careful(question, reference, answer, sources)


def strict_again(question, reference, answer, sources):
    """The same, put down another way: nothing it says changes."""
    look = Look(question, truth(reference, sources), answer)
    score = score_of(look)
    return {"reason": look.reason(), "score": score, "verdict": verdict_of(score)}


def wordy(question, reference, answer, sources):
    """The careful judge in more words."""
    made = careful(question, reference, answer, sources)
    return {
        **made,
        "reason": f"I compared each statement with the reference. {made['reason']}. That is all I have to say.",
    }


def wordless_scores(question, reference, answer, sources):
    """Verdicts and reasons, no scores."""
    made = careful(question, reference, answer, sources)
    return {"verdict": made["verdict"], "reason": made["reason"]}


def scores_only(question, reference, answer, sources):
    """Scores and reasons; the contract's thresholds make the verdict."""
    made = careful(question, reference, answer, sources)
    return {"score": made["score"], "reason": made["reason"]}


def wordless_scores_again(question, reference, answer, sources):
    """The same in another order."""
    made = careful(question, reference, answer, sources)
    return {key: made[key] for key in ("reason", "verdict")}


def scores_only_again(question, reference, answer, sources):
    """The same in another order."""
    made = careful(question, reference, answer, sources)
    return {key: made[key] for key in ("reason", "score")}


async def asynchronous(question, reference, answer, sources):
    """A coroutine."""
    return careful(question, reference, answer, sources)


def lenient(question, reference, answer, sources):
    """Lenient but ordered: what contradicts one statement and states others is partly right."""
    look = Look(question, truth(reference, sources), answer)
    score = score_of(look)
    if score < 0.4 and look.stated and look.in_order:
        score = 0.41
    return grade_of(score, look.reason())


def lenient_again(question, reference, answer, sources):
    """The same rule with scores that are spread a little otherwise."""
    made = lenient(question, reference, answer, sources)
    score = made["score"]
    return {**made, "score": round(score - 0.005 if 0.415 < score < 0.7 else score, 3)}


def _noisy(sd, stream):
    def grade(question, reference, answer, sources, seed):
        look = Look(question, truth(reference, sources), answer)
        noise = random.Random(f"{stream} {seed} {answer}").gauss(0, sd)
        score = round(min(1.0, max(0.0, score_of(look) + noise)), 3)
        return {"verdict": verdict_of(score), "score": score, "reason": look.reason()}

    return grade


noisy = _noisy(0.04, "a")
noisy_again = _noisy(0.04, "b")


def _boundary(stream):
    def grade(question, reference, answer, sources, seed):
        made = careful(question, reference, answer, sources)
        if made["verdict"] == "partial" and random.Random(f"{stream} {seed} {answer}").random() < 0.15:
            made = {**made, "verdict": "correct", "score": 0.75}
        return made

    return grade


unsure_at_the_boundary = _boundary("a")
unsure_at_the_boundary_again = _boundary("b")


def abstaining(question, reference, answer, sources):
    """Says why it cannot judge where nobody wrote a reference."""
    if not reference:
        return {"abstained": True, "reason": "There is no reference to hold this against."}
    return careful(question, reference, answer, sources)


def abstaining_again(question, reference, answer, sources):
    """The same, with another sentence."""
    if not reference:
        return {"abstained": True, "reason": "Without a reference I cannot tell."}
    return careful(question, reference, answer, sources)


LATIN = str.maketrans("०१२३४५६७८९٠١٢٣٤٥٦٧٨٩", "01234567890123456789")


def many_scripts(question, reference, answer, sources):
    """Reads the digits of every script as the same figures."""
    return careful(question, (reference or "").translate(LATIN), answer.translate(LATIN), sources)


def many_scripts_again(question, reference, answer, sources):
    """The same, digit by digit."""

    def latin(text):
        return re.sub(r"\d", lambda m: str(int(m.group())), text or "")

    return careful(question, latin(reference), latin(answer), sources)
