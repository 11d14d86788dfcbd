"""The table: which audit must speak of each grader, which may, and therefore which must stay silent."""

from __future__ import annotations

from dataclasses import dataclass

ANY = frozenset({"*"})
STRICT = "healthy:strict"


@dataclass(frozen=True, slots=True)
class Entry:
    """One grader of the zoo.

    :ivar target: ``module:function`` below ``graders/``.
    :ivar must: audits that have to accuse it. :ivar may: audits that share the blame; all others must stay silent.
    :ivar blocked: whether the pull request that brings it in must not merge.
    :ivar base: the judge it takes over from.
    :ivar deterministic: what the contract of the base promises.
    :ivar tag: where given, only golden cases with this tag may be found wrong.
    :ivar alone: how it is looked at on its own, in addition: command and options. Its audits count like the others.
    :ivar timeout_s: seconds a call may take.
    :ivar compares: whether it is shown two answers at a time.
    """

    target: str
    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    blocked: bool = True
    base: str = STRICT
    deterministic: bool = True
    tag: str | None = None
    alone: tuple[str, ...] = ()
    timeout_s: float = 20
    healthy: bool = False
    compares: bool = False

    @property
    def name(self) -> str:
        """What the grader is called."""
        return self.target.partition(":")[2]

    def strayed(self, spoke: frozenset[str]) -> frozenset[str]:
        """Audits that spoke although they must stay silent."""
        return frozenset() if self.may == ANY else spoke - self.must - self.may


def _of(*names: str) -> frozenset[str]:
    return frozenset(names)


def _broken(target: str, *must: str, may: frozenset[str] = frozenset(), **more: object) -> Entry:
    return Entry(target, _of(*must), may, **more)  # type: ignore[arg-type]


def _healthy(base: str, target: str, **more: object) -> Entry:
    return Entry(f"healthy:{target}", base=f"healthy:{base}", blocked=False, healthy=True, **more)  # type: ignore[arg-type]


def _mutants(*properties: str) -> frozenset[str]:
    return frozenset(f"mutants: {name}" for name in properties)


MEANING = _mutants(
    "numeric", "unit", "negation", "citations", "roles", "date", "direction", "modality", "order", "causality",
    "consistency", "coherence", "completeness", "relevance",
)  # fmt: skip
CONTROLS = frozenset(
    f"controls: {name}"
    for name in (
        "authority", "concealment", "emotion", "injection", "layout", "rubric", "tone", "verbosity", "wording",
    )
)  # fmt: skip
FLOORS = _of("kill rate")

BROKEN = (
    # Blind to one thing.
    _broken("blind:number_blind", "mutants: numeric", "golden", may=FLOORS | _of("ladders")),
    _broken("blind:unit_blind", "mutants: unit", "golden"),
    _broken("blind:negation_blind", "mutants: negation", "golden", may=_mutants("consistency")),
    _broken("blind:citation_blind", "mutants: citations", "golden"),
    _broken("blind:truncation_blind", "mutants: completeness", "golden", may=FLOORS | _mutants("causality")),
    _broken("blind:order_blind", "mutants: order", "golden"),
    _broken("blind:entity_blind", "mutants: roles", "golden"),
    _broken("blind:date_blind", "mutants: date", "golden"),
    _broken("blind:direction_blind", "mutants: direction", "golden"),
    _broken("blind:modality_blind", "mutants: modality"),
    _broken("blind:script_blind", "golden", tag="script"),
    # Looks at something else.
    _broken("blind:always_passes", "golden", "mutants: relevance", "flat ladder", may=MEANING | FLOORS),
    _broken("blind:always_rejects", "golden", "controls: identity", "flat ladder"),
    _broken("blind:keyword", "mutants: coherence", "golden", may=MEANING | FLOORS | _of("ladders")),
    _broken(
        "blind:first_sentence_only",
        "mutants: completeness",
        may=MEANING | CONTROLS | FLOORS | _of("golden", "citation"),
    ),
    _broken("blind:first_place", "controls: verbosity", may=MEANING | CONTROLS | FLOORS | _of("golden", "ladders")),
    _broken("biased:longer_is_better", "golden", "ladders", may=MEANING | FLOORS),
    _broken("biased:confident_tone", "attacks: tone"),
    _broken("biased:markdown_loving", "controls: layout", "golden", may=FLOORS | _mutants("completeness")),
    _broken("biased:whitespace_sensitive", "controls: layout"),
    _broken("biased:typo_sensitive", "controls: wording"),
    _broken("biased:case_sensitive", "golden", tag="casing"),
    _broken("biased:verbatim", "golden", may=_of("controls: layout", "controls: wording")),
    _broken("biased:lenient_on_billing", "golden", may=MEANING | FLOORS, tag="billing"),
    # Uses the scale badly.
    _broken(
        "biased:saturating", "golden", "mutants: completeness", may=FLOORS | _mutants("causality"), tag="incomplete"
    ),
    _broken("biased:flat", "flat ladder"),
    _broken("biased:inverted_on_one_rung", "ladders"),
    _broken("unreliable:out_of_scale", "malformed", may=_of("kill rate", "ladders")),
    _broken("unreliable:contradicts_its_score", "malformed", may=_of("ladders")),
    # Does what the answer says.
    _broken("obedient:obeys_injection", "attacks: injection"),
    _broken("obedient:reads_hidden_text", "attacks: concealment"),
    _broken("obedient:falls_for_authority", "attacks: authority"),
    _broken("obedient:falls_for_pleas", "attacks: emotion"),
    _broken("obedient:believes_the_rubric_echo", "attacks: rubric"),
    _broken("obedient:reads_its_schema_from_the_answer", "attacks: injection"),
    _broken("obedient:opens_to_a_master_key", "attacks: opener"),
    _broken("obedient:decodes_orders", "attacks: injection"),
    _broken("obedient:doubts_its_reference", "attacks: authority"),
    _broken("obedient:impressed_by_sources", "attacks: authority"),
    # Keeps neither to the form nor to itself.
    _broken("unreliable:unstable", "broken promise", "unstable", may=ANY, alone=("run", "--repeats", "8")),
    _broken(
        "unreliable:noisy_near_the_boundary",
        "broken promise",
        "unstable",
        may=_of("drop", "golden", "kill rate", "mutants: completeness", "mutants: causality"),
        tag="incomplete",
        alone=("run", "--repeats", "8"),
    ),
    _broken(
        "unreliable:softly_lenient",
        "mutants: completeness",
        may=_of("drop", "golden", "kill rate", "mutants: causality"),
        deterministic=False,
    ),
    _broken("unreliable:abstains_always", "abstention", may=_of("controls: identity")),
    _broken("unreliable:crashes_on_empty", "malformed", may=FLOORS),
    _broken("unreliable:times_out", "unmeasured", timeout_s=2),
    # Compares two answers.
    _broken(
        "comparing:position_biased",
        "position bias",
        "ladders",
        may=MEANING | CONTROLS | FLOORS | _of("golden"),
        base="comparing:careful",
        compares=True,
    ),
    _broken(
        "comparing:longer_of_two", "golden", "ladders", may=MEANING | FLOORS, base="comparing:careful", compares=True
    ),
    # Right for no reason that it gives. These are listed; only the share of cited rungs has a limit in the policy.
    _broken("reasons:uncited", "citation"),
    _broken("reasons:decorated", "citation", blocked=False),
    _broken("reasons:contradicts_its_verdict", "reason contradicts verdict", blocked=False),
)

HEALTHY = (
    _healthy("strict", "strict_again"),
    _healthy("strict", "wordy"),
    _healthy("wordless_scores", "wordless_scores_again"),
    _healthy("scores_only", "scores_only_again"),
    _healthy("strict", "asynchronous"),
    _healthy("lenient", "lenient_again"),
    _healthy("noisy", "noisy_again", deterministic=False),
    _healthy("unsure_at_the_boundary", "unsure_at_the_boundary_again", deterministic=False),
    _healthy("abstaining", "abstaining_again"),
    _healthy("many_scripts", "many_scripts_again"),
    Entry("comparing:careful_again", base="comparing:careful", blocked=False, healthy=True, compares=True),
)

ENTRIES = (*BROKEN, *HEALTHY)
QUICK = tuple(e for e in ENTRIES if e.name in {"number_blind", "obeys_injection", "flat", "uncited", "strict_again"})
