"""A careful judge in code: it reads the reference sentence by sentence and looks for each in the answer.

The broken graders of the zoo are this judge with one organ removed or one habit added, so that each has exactly one
defect. It runs in a child of its own and imports nothing but the standard library.
"""

import re
import unicodedata


def _listed(text):
    return text.split()


def shape(word):
    """A word but for the order of its inner letters: a slip of the fingers is no other word."""
    word = word.casefold()
    return word if len(word) < 5 else word[0] + "".join(sorted(word[1:-1])) + word[-1]


NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
        ]
    )
}
MONTHS = _listed("January February March April May June July August September October November December")
UNITS = set(
    _listed(
        "second minute hour day week month year mg g kg ml l mm cm m km v mv kv a ma kb mb gb tb percent % "
        "celsius fahrenheit dollar euro $ €"
    )
)
NEGATIONS = {"not", "no"}
MODALS = {
    shape(word)
    for word in _listed(
        "must may should need only also least most some all always never usually sometimes often rarely "
        "suggests proves required optional might could"
    )
}
DIRECTIONS = {
    shape(word)
    for word in _listed(
        "higher lower more less before after above below inside outside increase increases decrease decreases "
        "faster slower longer shorter open closed with without first last early late earlier later larger "
        "smaller accepts rejects safe dangerous same different"
    )
}
STOP = set(
    _listed(
        "the an and or of to in on at by for from is are was were be been it its this that do does did has "
        "have had as there their they we you your our will can than"
    )
)
TOKEN = re.compile(
    r"\[\d[\d, -]*\]|(?:" + "|".join(MONTHS) + r") \d{1,2}, \d{4}|\d{4}-\d\d-\d\d|\d[\d,]*(?:\.\d+)?|[%$€]"
    r"|[぀-ヿ一-鿿]|[^\W\d_]+(?:['’-][^\W\d_]+)*",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”']*\s+|(?<=[。！？।])\s*")
MARKER = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
CORRECT, PARTIAL, INCORRECT = "correct", "partial", "incorrect"


def cleaned(text):
    """The text without what nobody sees, with plain quotes and composed letters."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')


def sentences(text):
    """Sentences and list items, without markers and bold."""
    found = []
    for line in cleaned(text).replace("**", "").splitlines():
        found += [part.strip() for part in SENTENCE_END.split(MARKER.sub("", line)) if part.strip()]
    return found


def names_in(*texts):
    """Words that are capitalised inside a sentence."""
    found = set()
    for text in texts:
        for sentence in sentences(text):
            found |= {shape(w) for w in re.findall(r"(?<=[^.!?:] )[A-Z][a-z]+", sentence)}
    return found - {shape(month) for month in MONTHS}


def tokens(sentence, names):
    """Kind and value of each token: what decides (number, unit, negation, …) and plain words."""
    text = re.sub(r"\bcannot\b", "can not", re.sub(r"n't\b", " not", sentence), flags=re.IGNORECASE)
    text = re.sub(r"\b(?:can't|ca not)\b", "can not", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(it|that|there|they|we|you)'(?:s|re|ll|ve)\b", r"\1", text, flags=re.IGNORECASE)
    found = []
    for match in TOKEN.finditer(text):
        word = match.group()
        low = word.casefold()
        single = low[:-1] if low.endswith("s") and low[:-1] in UNITS else low
        if word[0] == "[":
            found.append(("citation", word.replace(" ", "")))
        elif re.match(r"\w+ \d|\d{4}-", word):
            found.append(("date", low))
        elif word[0].isdigit() or low in NUMBER_WORDS:
            value = float(NUMBER_WORDS.get(low, word.replace(",", "")))
            found.append(("number", f"{value:g}"))
        elif single in UNITS and (len(single) > 1 or single in "%$€" or (found and found[-1][0] == "number")):
            found.append(("unit", {"percent": "%"}.get(single, single)))
        elif low in NEGATIONS:
            found.append(("negation", low))
        elif shape(word) in MODALS:
            found.append(("modal", shape(word)))
        elif shape(word) in DIRECTIONS:
            found.append(("direction", shape(word)))
        elif shape(word) in names:
            found.append(("name", shape(word)))
        elif low not in STOP and low != "a":
            found.append(("word", shape(word)))
    return found


def _in_order(wanted, said):
    """Length of the longest common subsequence."""
    row = [0] * (len(said) + 1)
    for one in wanted:
        before = 0
        for index, other in enumerate(said, 1):
            row[index], before = (before + 1 if one == other else max(row[index], row[index - 1])), row[index]
    return row[-1]


class Look:
    """One answer beside its reference.

    :param blind: kinds of tokens this judge does not see.
    """

    def __init__(self, question, reference, answer, blind=()):
        self.blind = set(blind)
        names = names_in(reference, question)
        self.wanted = [(s, self._seen(tokens(s, names))) for s in sentences(reference)]
        self.said = [(s, self._seen(tokens(s, names))) for s in sentences(answer) if not s.endswith("?")]
        self.places = [self._place(pair) for pair in self.wanted]
        self.against = [(w, s) for w, want in self.wanted for s, have in self.said if self._contradicts(want, have)]
        self.numbered = len(re.findall(r"^\s*\d{1,2}[.)]\s", reference, re.MULTILINE)) > 1

    def _seen(self, found):
        return [t for t in found if t[0] not in self.blind]

    def _place(self, pair):
        for index, (_, have) in enumerate(self.said):
            if self._states(pair[1], have):
                return index
        return None

    def _states(self, want, have):
        critical = [t for t in want if t[0] != "word"]
        if critical != [t for t in have if t[0] != "word"]:
            return False
        return _in_order(want, have) >= 0.75 * len(want)

    def _contradicts(self, want, have):
        words = {t for t in want if t[0] == "word"}
        shared = len(words & set(have))
        if not words or shared < 0.7 * len(words):
            return False
        decides = [t for t in want if t[0] not in ("word", "citation")]
        return decides != [t for t in have if t[0] not in ("word", "citation")]

    @property
    def stated(self):
        """How many of the reference's sentences the answer states."""
        return sum(place is not None for place in self.places)

    @property
    def in_order(self):
        """Whether the steps stand in the reference's order, where it numbers them."""
        found = [place for place in self.places if place is not None]
        return not self.numbered or found == sorted(found)

    @property
    def recall(self):
        """Share of the reference's words that stand anywhere in the answer."""
        want = {t for _, found in self.wanted for t in found}
        have = {t for _, found in self.said for t in found}
        return len(want & have) / len(want) if want else 0.0

    def reason(self):
        """What the judge saw, with quotations."""
        parts = [f'it states "{self.said[p][0]}"' for p in self.places if p is not None]
        parts += [f'"{said}" is not what the reference says' for _, said in self.against]
        missing = sum(place is None for place in self.places)
        if missing and not self.against:
            parts.append(f"{missing} of {len(self.wanted)} statements are not there")
            spoken = [s for i, (s, _) in enumerate(self.said) if i not in self.places]
            parts += [f'beside them it says "{s}"' for s in spoken[:2]]
        return "; ".join(parts) or "the answer is empty"


def score_of(look, order=True):
    """From 0 to 1: all stated, some stated, contradicted or nothing stated."""
    if look.against or not look.stated or not (look.in_order or not order):
        return round(0.3 * look.recall, 3)
    if look.stated == len(look.wanted):
        return 1.0
    return round(0.42 + 0.2 * look.stated / len(look.wanted), 3)


def verdict_of(score, correct=0.65, partial=0.4):
    """The verdict the contract's thresholds give a score."""
    return CORRECT if score >= correct else PARTIAL if score >= partial else INCORRECT


def grade_of(score, reason):
    """A grade as the contract wants it."""
    return {"verdict": verdict_of(score), "score": score, "reason": reason}


def careful(question, reference, answer, sources=(), blind=(), order=True):
    """The whole judge."""
    look = Look(question, truth(reference, sources), answer, blind)
    return grade_of(score_of(look, order), look.reason())


def truth(reference, sources=()):
    """What the answer is held against: the reference, else the sources."""
    return reference or " ".join(source["text"] for source in sources or ())
