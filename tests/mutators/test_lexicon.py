"""The word lists: complete for each language, and free of contradictions."""

from collections import Counter
from importlib import resources

import pytest

from grader_gate.suite.mutators.lexicon import language_of, lexicon
from grader_gate.suite.mutators.numerals import in_words

from .helpers import case, run

LANGUAGES = sorted(
    folder.name for folder in (resources.files("grader_gate.suite.mutators") / "data").iterdir() if folder.is_dir()
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_list_of_a_language_is_there(language):
    words = lexicon(language)
    assert words.language == language
    assert len(words.months) in (0, 12)
    assert words.phrases.keys() == lexicon("en").phrases.keys()


def test_there_is_english():
    assert "en" in LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_has_two_opposites(language):
    words = lexicon(language)
    for left, right in words.antonyms.items():
        assert words.antonyms[right] == left
    for word, guard in words.guarded.items():
        assert guard["other"] != word
    assert not [left for left, n in Counter(left.casefold() for left, _ in words.modality).items() if n > 1]
    assert all(
        left != right
        for left, right in (*words.modality, *words.contractions, *words.units.items(), *words.symbols.items())
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_units_of_the_same_number(language):
    """A plural stays a plural; the other unit is no prefix trap such as ``minutes`` for ``min``."""
    words = lexicon(language)
    for unit, other in words.units.items():
        plural = {
            unit.endswith("s") or unit in ("feet", "hertz"),
            other.endswith("s") or other in ("feet", "kilohertz"),
        }
        assert len(plural) == 1, (unit, other)


@pytest.mark.parametrize("language", LANGUAGES)
def test_number_words_are_those_of_the_library(language):
    for word, value in lexicon(language).number_words.items():
        assert in_words(value, "x", language) == word


@pytest.mark.parametrize(
    ("declared", "language"),
    [("de", "de"), ("pt-BR", "pt"), ("EN_us", "en"), (None, "en"), ("", "en"), (3, "en"), ("German", "german")],
)
def test_language_of_a_case(declared, language):
    assert language_of(case(metadata={"language": declared})) == language


@pytest.mark.parametrize("declared", ["German", "../data/en", "xx", "\0"])
def test_an_unknown_language_has_no_lists_but_sentences_and_numbers(declared):
    metadata = {"language": declared}
    assert run("antonym", "Higher.", metadata=metadata) == "no word list for the case's language"
    assert run("drop_last_sentence", "Eins ist an. Zwei ist aus.", metadata=metadata) == ["Eins ist an."]
    assert run("corrupt_number", "Es sind 14 Tage.", metadata=metadata) == ["Es sind 17 Tage."]
