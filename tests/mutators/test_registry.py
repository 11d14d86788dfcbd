"""The registry, the choice a configuration makes, third-party mutators and the budget."""

import re
import subprocess
import sys
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.config import Mutators
from grader_gate.model import GradeVerdict
from grader_gate.suite.mutators import (
    IdentityExcludedError,
    Mutant,
    MutationContext,
    Mutator,
    MutatorConflictError,
    MutatorNameError,
    MutatorPluginError,
    NotApplicable,
    Polarity,
    as_mutator,
    catalogue_digest,
    mutate,
    registry,
    resolve,
    select,
)
from grader_gate.suite.mutators.examples import example_case, example_context

from .helpers import case

FIFTY = re.findall(
    r"\w+",
    """
empty off_topic neighbour_question parrot_question refusal evasive truncate_half drop_last_sentence drop_first_sentence
drop_fact drop_list_item corrupt_number corrupt_all_numbers scale_number swap_numbers unit_swap currency_swap date_shift
negate antonym modality swap_entities reverse_steps wrong_final strip_citations shift_citation keyword_salad
shuffle_words self_contradict identity whitespace unicode_form markdown_wrap list_style number_form contraction typo
polite_wrap padding master_key inject_override inject_delimiter inject_verdict claim_authority plea hidden_text
rubric_echo fake_reference fabricate_citations confident_tone
""",
)
DEFAULT = re.findall(
    r"\w+",
    """
identity empty off_topic truncate_half drop_last_sentence corrupt_number unit_swap negate keyword_salad shuffle_words
whitespace polite_wrap benign_instruction master_key inject_override
""",
)


def upper(text, case, context):
    """Shout."""
    return [Mutant(text.upper())]


def made(name="shout", function=upper, polarity=Polarity.BENIGN):
    return Mutator(name, polarity, "layout", GradeVerdict.CORRECT, 1, function, ("a", "A"), False, "Shout.")


def names(config, **arguments):
    return [mutator.name for mutator in resolve(config, **arguments)]


def test_the_whole_catalogue_is_there():
    assert len(FIFTY) == 50
    assert set(FIFTY) <= set(registry())


@pytest.mark.parametrize("name", sorted(registry()))
def test_every_example_holds(name):
    mutator = registry()[name]
    before, after = mutator.example
    result = mutate(mutator, before, example_case(mutator), example_context())
    assert not isinstance(result, NotApplicable), result
    assert result[0].text == after
    assert mutator.name == name
    assert mutator.description.endswith(".")
    assert (mutator.best is GradeVerdict.CORRECT) == (mutator.polarity is Polarity.BENIGN)


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        registry()["x"] = made()


def test_default_all_and_none():
    assert sorted(names(Mutators())) == sorted(DEFAULT)
    assert set(names(Mutators(use="all"))) == set(registry())
    assert names(Mutators(use="none")) == []
    assert names(Mutators())[0] == "identity"


def test_identity_comes_with_any_other():
    assert names(Mutators(use="none", include=("negate",))) == ["identity", "negate"]
    with pytest.raises(IdentityExcludedError, match="identity"):
        resolve(Mutators(exclude=("identity",)))


def test_exclude_beats_include():
    assert "negate" not in names(Mutators(include=("negate", "typo"), exclude=("negate",)))
    assert "typo" in names(Mutators(include=("typo",)))


def test_a_misspelt_name_is_told_with_the_nearest():
    with pytest.raises(
        MutatorNameError, match=r"mutators\.include: no mutator is called `negat`; did you mean `negate`\?"
    ):
        resolve(Mutators(include=("negat",)))
    with pytest.raises(MutatorNameError, match=r"mutators\.exclude: .*`qqq`; `grader-gate mutators` lists them all"):
        resolve(Mutators(exclude=("qqq",)))


def test_project_local_mutators_need_a_loader():
    config = Mutators(use="none", modules=("mine:shout",))
    with pytest.raises(MutatorPluginError, match="mine:shout: project-local mutators are not loaded here"):
        resolve(config)
    asked = []

    def load(spec):
        asked.append(spec)
        return made()

    assert names(config, load=load) == ["identity", "shout"]
    assert asked == ["mine:shout"]
    with pytest.raises(MutatorConflictError, match="a mutator called `negate` exists already"):
        resolve(config, load=lambda spec: made("negate"))
    with pytest.raises(MutatorPluginError, match="is a int"):
        resolve(config, load=lambda spec: 3)


def test_what_a_plug_in_may_offer():
    assert as_mutator(made(), "x").name == "shout"
    assert as_mutator(made, "x").name == "shout"
    with pytest.raises(MutatorPluginError, match="x: is a str"):
        as_mutator("text", "x")
    with pytest.raises(MutatorPluginError, match="x: calling it fails: division"):
        as_mutator(lambda: 1 / 0, "x")


@pytest.fixture
def entry_point(tmp_path, monkeypatch):
    """Installs a distribution whose entry point is the given object."""

    def install(offered):
        info = tmp_path / "plugged-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[grader_gate.mutators]\nshout = plugged_shout:offered\n")
        module = types.ModuleType("plugged_shout")
        module.offered = offered
        monkeypatch.setitem(sys.modules, "plugged_shout", module)
        monkeypatch.syspath_prepend(str(tmp_path))
        registry.cache_clear()

    yield install
    monkeypatch.undo()
    registry.cache_clear()


def test_an_entry_point_adds_a_mutator(entry_point):
    entry_point(made())
    assert registry()["shout"].description == "Shout."
    assert "shout" in names(Mutators(include=("shout",)))


def test_a_broken_entry_point_is_one_clear_line(entry_point):
    entry_point("nothing")
    with pytest.raises(MutatorPluginError, match=r"entry point shout \(plugged_shout:offered\): is a str; it must be"):
        registry()


def test_an_entry_point_cannot_take_a_name(entry_point):
    entry_point(made("negate"))
    with pytest.raises(MutatorConflictError, match="negate"):
        registry()


def test_a_raising_mutator_is_a_reason_not_a_crash():
    def broken(text, case, context):
        raise ValueError("no\nsuch   thing")

    assert mutate(made(function=broken), "a", case("a"), MutationContext()) == NotApplicable(
        "shout failed: ValueError: no such thing"
    )


def test_mutants_that_change_nothing_are_dropped_and_said():
    spaced = made(function=lambda t, c, x: [Mutant(t + " "), Mutant(t, "same")], polarity=Polarity.DEGRADE)
    assert mutate(spaced, "a b", case("a b"), MutationContext()) == NotApplicable(
        "the result equals the text", noop=True
    )
    layout = made(function=lambda t, c, x: [Mutant(t + " "), Mutant(t, "same"), Mutant(t + " ", "twice")])
    assert mutate(layout, "a b", case("a b"), MutationContext()) == (Mutant("a b "),)


def test_the_result_is_in_nfc_where_the_text_is():
    mutator = made(function=lambda t, c, x: [Mutant(t + "e\u0301")])
    assert mutate(mutator, "a", case("a"), MutationContext()) == (Mutant("a\u00e9"),)
    assert mutate(mutator, "e\u0301", case(), MutationContext()) == (Mutant("e\u0301e\u0301"),)


def test_the_digest_follows_names_and_versions():
    one, two = registry()["negate"], registry()["typo"]
    newer = Mutator(one.name, one.polarity, one.property, one.best, 2, one.function, one.example, True, "")
    assert catalogue_digest([one, two]) == catalogue_digest([two, one])
    assert catalogue_digest([one]) != catalogue_digest([newer])
    assert catalogue_digest([one]) != catalogue_digest([one, two])


IDS = st.lists(st.text("abcdef0123", min_size=1, max_size=6), unique=True, max_size=40)


@given(ids=IDS, limit=st.integers(0, 12), added=st.text("xyz", min_size=1, max_size=4))
def test_selection_is_bounded_and_stable_when_a_case_is_added(ids, limit, added):
    mutants = {name: [Mutant(f"{name} {variant}", variant) for variant in ("", "b")] for name in ids}
    chosen = select(mutants, limit, "negate")
    flat = {(name, mutant.variant) for name, kept in chosen.items() for mutant in kept}
    assert len(flat) == min(limit, 2 * len(ids))
    assert list(chosen) == [name for name in ids if name in chosen]
    assert select(dict(reversed(mutants.items())), limit, "negate") == chosen
    more = select({**mutants, added: [Mutant("new")]}, limit, "negate")
    flat_more = {(name, mutant.variant) for name, kept in more.items() for mutant in kept}
    assert len(flat - flat_more) <= 1
    assert flat_more - flat <= {(added, "")}


def test_mutators_choose_different_cases():
    mutants = {f"case-{number}": [Mutant(str(number))] for number in range(200)}
    assert set(select(mutants, 20, "negate")) != set(select(mutants, 20, "typo"))


def test_heavy_libraries_wait_until_a_text_needs_them():
    code = (
        "import sys; from grader_gate.suite.mutators import registry; registry();"
        "print([m for m in ('regex', 'sentencex', 'num2words', 'pint', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
