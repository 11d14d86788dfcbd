"""The catalogue of mutators: pure functions from a text and its case to a mutant or a typed reason why not."""

from grader_gate.suite.mutators.api import (
    IDENTITY,
    Mutant,
    MutationContext,
    Mutator,
    NotApplicable,
    Polarity,
)
from grader_gate.suite.mutators.apply import mutate, select
from grader_gate.suite.mutators.registry import (
    IdentityExcludedError,
    MutatorConflictError,
    MutatorNameError,
    MutatorPluginError,
    as_mutator,
    catalogue_digest,
    registry,
    resolve,
)

__all__ = [
    "IDENTITY",
    "IdentityExcludedError",
    "Mutant",
    "MutationContext",
    "Mutator",
    "MutatorConflictError",
    "MutatorNameError",
    "MutatorPluginError",
    "NotApplicable",
    "Polarity",
    "as_mutator",
    "catalogue_digest",
    "mutate",
    "registry",
    "resolve",
    "select",
]
