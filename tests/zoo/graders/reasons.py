"""Careful judges whose verdicts are right and whose reasons are not."""

from zoo.careful import careful

PRAISE = {"correct": "Fine work all over.", "partial": "Some of it will do.", "incorrect": "This will not do."}


def uncited(question, reference, answer, sources):
    """The same three phrases for every answer."""
    made = careful(question, reference, answer, sources)
    return {**made, "reason": PRAISE[made["verdict"]]}


def decorated(question, reference, answer, sources):
    """Every reason is adorned with a quotation that nobody wrote."""
    made = careful(question, reference, answer, sources)
    return {**made, "reason": made["reason"] + '; the answer adds "as the committee of nine experts has shown"'}


def contradicts_its_verdict(question, reference, answer, sources):
    """Accepts what its reason calls wrong."""
    made = careful(question, reference, answer, sources)
    return {
        **made,
        "reason": f"The answer is {'incorrect' if made['verdict'] == 'correct' else 'correct'}: {made['reason']}",
    }
