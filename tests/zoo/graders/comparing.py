"""Judges that are shown two answers and say which is better."""

from zoo.careful import Look, score_of, truth


def _worth(question, reference, answer, sources):
    return score_of(Look(question, truth(reference, sources), answer))


def _say(a, b):
    return "tie" if a == b else "a" if a > b else "b"


def careful(question, reference, answer_a, answer_b, sources):
    """The answer that the careful judge scores higher."""
    a, b = (_worth(question, reference, answer, sources) for answer in (answer_a, answer_b))
    return {"verdict": _say(a, b), "reason": f"one is worth {a}, the other {b}"}


def careful_again(question, reference, answer_a, answer_b, sources):
    """The same, put down another way."""
    worth = [_worth(question, reference, answer, sources) for answer in (answer_a, answer_b)]
    return {"reason": f"worth {worth[0]} and {worth[1]}", "verdict": _say(*worth)}


def position_biased(question, reference, answer_a, answer_b, sources):
    """Prefers the answer shown first, unless it is plainly the worse one."""
    a, b = (_worth(question, reference, answer, sources) for answer in (answer_a, answer_b))
    return {"verdict": "b" if b - a > 0.6 else "a", "reason": f"one is worth {a}, the other {b}"}


def longer_of_two(question, reference, answer_a, answer_b, sources):
    """Prefers the longer answer."""
    return {"verdict": _say(len(answer_a), len(answer_b)), "reason": "there is more of it"}
