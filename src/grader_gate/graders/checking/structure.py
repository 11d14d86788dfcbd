"""Checks of form: JSON, JSON Schema, length."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from grader_gate.graders.checking.base import Ask, Building, CheckTimeout, Finding, compiled, search, text_of
from grader_gate.graders.inputs import read_text

MAX_REFERENCES = 10_000
"""References followed for one answer: each may double the work of the one before it."""
UNITS = ("characters", "words", "lines")


def json_parses(building: Building) -> Ask:
    """The whole answer is one JSON value, as a program would read it: no fence, no text around, no NaN."""

    def ask(inputs: Mapping[str, Any]) -> Finding:
        _, problem = _parsed(text_of(inputs, "answer"))
        return problem == "", problem

    return ask


def json_schema(building: Building) -> Ask:
    """The answer is JSON that a schema accepts. References to other documents are never fetched.

    Dialect by ``$schema``, else 2020-12. Patterns in the schema run under a time limit, references within it are
    followed :data:`MAX_REFERENCES` times at most.
    """
    from jsonschema import FormatChecker, SchemaError
    from jsonschema.exceptions import best_match

    schema = _schema(building)
    followed: list[None] = []
    kind = _validator_class(schema, building, followed)
    try:
        kind.check_schema(schema, format_checker=FormatChecker(formats=()))
    except SchemaError as error:
        raise building.problem(f"is no JSON Schema: {error.message[:200]}", "schema") from None
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    validator = kind(schema, registry=Registry())

    def ask(inputs: Mapping[str, Any]) -> Finding:
        value, problem = _parsed(text_of(inputs, "answer"))
        if problem:
            return False, problem
        followed.clear()
        try:
            error = best_match(validator.iter_errors(value))
        except Unresolvable as unresolvable:
            raise building.problem(f"refers to {unresolvable.ref!r}, which it does not hold", "schema") from None
        except RecursionError:
            return False, "nested too deeply for the schema"
        return (True, "") if error is None else (False, f"{error.json_path}: {error.message[:300]}")

    return ask


def _validator_class(schema: Any, building: Building, followed: list[None]) -> Any:
    """A validator whose work is bounded; ``followed`` grows with every reference that is followed."""
    from jsonschema import Draft202012Validator, ValidationError, validators

    if _holds_both(schema):
        raise building.problem(
            "has `patternProperties` and `unevaluatedProperties`, which cannot be run under a time limit together; "
            "use `additionalProperties`",
            "schema",
        )

    patterns: dict[str, Any] = {}

    def matches(pattern: str, text: str) -> bool:
        if pattern not in patterns:
            patterns[pattern] = compiled(building, pattern, key="schema")
        return search(patterns[pattern], text) is not None

    def pattern(validator: Any, wanted: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if validator.is_type(instance, "string") and not matches(wanted, instance):
            yield ValidationError(f"{instance!r} does not match {wanted!r}")

    def pattern_properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if validator.is_type(instance, "object"):
            for expression, below in wanted.items():
                for name, value in instance.items():
                    if matches(expression, name):
                        yield from validator.descend(value, below, path=name, schema_path=expression)

    def additional_properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        # The library's own searches with patterns that nothing bounds.
        if not validator.is_type(instance, "object"):
            return
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, value in instance.items():
            if name in known or any(matches(expression, name) for expression in patterns):
                continue
            if validator.is_type(wanted, "object"):
                yield from validator.descend(value, wanted, path=name)
            elif wanted is False:
                yield ValidationError(f"additional properties are not allowed ({name!r} was unexpected)")

    base = validators.validator_for(schema, default=Draft202012Validator)

    def reference(keyword: str) -> Any:
        def follow(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
            followed.append(None)
            if len(followed) > MAX_REFERENCES:
                raise CheckTimeout(f"the schema follows over {MAX_REFERENCES:,} references on this answer; simplify it")
            yield from base.VALIDATORS[keyword](validator, wanted, instance, schema) or ()

        return follow

    extend: Any = validators.extend  # has no types
    references = {k: reference(k) for k in ("$ref", "$dynamicRef", "$recursiveRef") if k in base.VALIDATORS}
    own = {"pattern": pattern, "patternProperties": pattern_properties, "additionalProperties": additional_properties}
    return extend(base, {**own, **references})


def _holds_both(schema: Any) -> bool:
    """Whether keywords of the schema, at any depth, are both ``patternProperties`` and ``unevaluatedProperties``."""
    found: set[str] = set()
    left = [schema]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            found |= {"patternProperties", "unevaluatedProperties"} & part.keys()
            left += part.values()
        elif isinstance(part, list):
            left += part
    return len(found) == 2


def _schema(building: Building) -> Any:
    given = building.check.schema_
    if given is None:
        raise building.problem("needs `schema`, inline or the path of a file")
    if isinstance(given, dict):
        return given
    text = read_text(building.tree, given, key=f"{building.key}.schema")
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise building.problem(f"{given} is no JSON: {error}", "schema") from None
    if not isinstance(schema, dict | bool):
        raise building.problem(f"{given} is no JSON Schema: it must be an object", "schema")
    return schema


def _parsed(text: str) -> tuple[Any, str]:
    try:
        return json.loads(text, parse_constant=_no_constant), ""
    except RecursionError:
        return None, "is nested too deeply"
    except ValueError as error:
        return None, f"is no JSON: {error}"


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def length(building: Building) -> Ask:
    """The answer has from ``min`` to ``max`` characters (or ``unit: words``, ``lines``)."""
    check = building.check
    unit = check.unit or "characters"
    if unit not in UNITS:
        raise building.problem(f"is one of {', '.join(UNITS)}", "unit")
    if check.min is None and check.max is None:
        raise building.problem("needs `min` or `max`")
    if check.min is not None and check.max is not None and check.min > check.max:
        raise building.problem("`min` is above `max`")

    def ask(inputs: Mapping[str, Any]) -> Finding:
        text = text_of(inputs, "answer")
        count = {"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}[unit]
        if check.min is not None and count < check.min:
            return False, f"has {count} {unit}, fewer than {check.min}"
        if check.max is not None and count > check.max:
            return False, f"has {count} {unit}, more than {check.max}"
        return True, ""

    return ask
