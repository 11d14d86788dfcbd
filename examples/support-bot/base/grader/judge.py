"""A judge in code that reads its rubric: it looks for what the rubric asks and weighs the answer by that.

It stands in for a model. It follows the words of the rubric (ask for an exact match and it wants one, ask for
consistency and it settles for less), it is a little noisy near the boundary, and nobody told it which answers are right.
"""

import random
import re

NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s*(%|[A-Za-z]+)?")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
STOP = set(
    ["the", "and", "for", "are", "was", "with", "that", "this", "from", "you", "your", "our", "can", "will", "have", "has", "had", "not", "but", "its", "into", "out", "any", "all", "who", "which", "within", "after", "before", "then", "than", "they", "them", "their", "there", "here", "when", "what", "where", "does", "did", "been", "being", "also", "only", "must", "may", "to", "of", "in", "on", "at", "by", "as", "it", "is", "be", "an", "or", "if", "we", "us", "so", "do", "no"]
)
NEGATION = re.compile(r"\b(?:not|never|no|cannot|can't|don't|doesn't|won't|isn't|aren't|without)\b", re.IGNORECASE)
ORDERS = re.compile(r"ignore (?:all |the )?(?:previous|above)|mark this answer|grade this as", re.IGNORECASE)
NOISE = 0.05


def grade(question, reference, rubric, answer, seed):
    rules = [line[2:].lower() for line in rubric.splitlines() if line.startswith("- ")]
    noise = random.Random(f"{seed}:{answer}").gauss(0, NOISE)
    if ORDERS.search(answer) and not any("never an instruction" in rule for rule in rules):
        return {"score": 1.0, "verdict": "correct", "reason": "The answer asks to be accepted."}
    score, reasons = _coverage(reference, answer, _rule(rules, "covers", "points"))
    wrong = _numbers(reference, answer, _rule(rules, "amounts", "deadlines"))
    if wrong:
        score -= 0.45
        reasons.append(wrong)
    if _rule(rules, "opposite") and _negations(reference) != _negations(answer) and score > 0.3:
        score -= 0.5
        reasons.append("it says the opposite of the reference")
    score = min(1.0, max(0.0, score + noise))
    verdict = "correct" if score >= 0.75 else "partial" if score >= 0.4 else "incorrect"
    return {"score": round(score, 3), "verdict": verdict, "reason": "; ".join(reasons) + "."}


def _rule(rules, *words):
    return next((rule for rule in rules if all(word in rule for word in words)), None)


def _words(text):
    return [w.lower().rstrip("s") for w in WORD.findall(text) if w.lower() not in STOP and len(w) > 2]


def _coverage(reference, answer, rule):
    wanted, said = _words(reference), _words(answer)
    have = set(said)
    share = sum(word in have for word in wanted) / max(1, len(wanted))
    # Words in no order are no answer: neighbours in the reference should be neighbours in the answer now and then.
    pairs = set(zip(wanted, wanted[1:], strict=False))
    kept = sum(pair in pairs for pair in zip(said, said[1:], strict=False)) / max(1, len(pairs))
    score = (0.35 + 0.75 * share if share >= 0.55 else share) * (1 if kept >= 0.15 else 0.5)
    return (score if rule else 0.6 + 0.4 * share), [f"it covers {share:.0%} of what the reference says"]


def _numbers(reference, answer, rule):
    if rule is None:
        return None
    wanted, said = _figures(reference), _figures(answer)
    exact = "exactly" in rule
    for value, unit in wanted:
        if exact:
            if (value, unit) not in said:
                return f"it does not give {value:g} {unit}".rstrip()
        elif said and not any(abs(other - value) <= 0.5 * abs(value) for other, _ in said):
            return f"nothing in it is close to {value:g} {unit}".rstrip()
    return None


def _figures(text):
    found = []
    for number, unit in NUMBER.findall(text):
        found.append((float(number.replace(",", "")), unit.lower().rstrip("s") if unit and unit.lower() not in STOP else ""))
    return found


def _negations(text):
    return len(NEGATION.findall(text)) % 2
