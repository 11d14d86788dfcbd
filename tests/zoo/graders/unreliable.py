"""Careful judges that do not keep to the form, or to themselves."""

import random
import time

from zoo.careful import Look, careful, score_of, truth, verdict_of


def unstable(question, reference, answer, sources, seed):
    """Half of all answers are graded by the toss of a coin."""
    made = careful(question, reference, answer, sources)
    toss = random.Random(f"{seed} {answer}").random()
    if len(answer) % 2 and toss < 0.5:
        score = 0.5 if made["score"] >= 0.7 else 1.0
        made = {**made, "score": score, "verdict": verdict_of(score)}
    return made


def noisy_near_the_boundary(question, reference, answer, sources, seed):
    """Only what is partly right is graded one way today and another way tomorrow."""
    look = Look(question, truth(reference, sources), answer)
    score = score_of(look)
    if 0.4 <= score < 0.7:
        score = random.Random(f"{seed} {answer}").choice([0.5, 0.5, 0.75])
    return {"verdict": verdict_of(score), "score": score, "reason": look.reason()}


def softly_lenient(question, reference, answer, sources, seed):
    """Passes what is incomplete now and then: no case fails for sure, and together they fail too often."""
    made = careful(question, reference, answer, sources)
    if made["verdict"] == "partial" and random.Random(f"{seed} {answer}").random() < 0.45:
        made = {**made, "verdict": "correct", "score": 0.75}
    return made


def abstains_always(question, reference, answer, sources):
    """Never enough context."""
    return {"abstained": True, "reason": Look(question, truth(reference, sources), answer).reason()}


def crashes_on_empty(question, reference, answer, sources):
    """An empty answer is divided by."""
    1 / len(answer)
    return careful(question, reference, answer, sources)


def times_out(question, reference, answer, sources):
    """One long look at one case never ends."""
    if "LISBON" in answer.upper() and "spring" in answer:
        time.sleep(3600)
    return careful(question, reference, answer, sources)


def out_of_scale(question, reference, answer, sources):
    """Ten points where the scale ends at one."""
    made = careful(question, reference, answer, sources)
    return {**made, "score": 10 * made["score"]}


def contradicts_its_score(question, reference, answer, sources):
    """Says partial where its score says correct."""
    made = careful(question, reference, answer, sources)
    return {**made, "verdict": "partial"} if made["score"] >= 0.7 else made
