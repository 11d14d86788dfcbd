"""JSON Schemas (draft 2020-12) of every file format, made from the models and from the loader's own tables of keys."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, Schema]:
    """Schema by format name: ``config``, ``cases``, ``ladders``, ``ledger``, ``result``, ``calibration``, ``baseline``.

    ``ledger`` and ``baseline`` describe one line of a JSON Lines file; ``cases`` and ``ladders`` a whole file, or one
    line where the file is JSON Lines.
    """
    from grader_gate.audits.calibration_records import Calibration
    from grader_gate.baselines.record import FrozenGrades, RecordHead
    from grader_gate.model import LedgerRow
    from grader_gate.result import Result

    return {
        "config": _finish(_config(), "grader-gate configuration", ".grader-gate.yml: graders, suites and policy."),
        "cases": _finish(_suite_file("case"), "grader-gate golden cases", "Questions, answers, true verdicts."),
        "ladders": _finish(_suite_file("ladder"), "grader-gate ladders", "Answers in order, worst first."),
        "ledger": _finish(_models(LedgerRow), "grader-gate ledger line", "A planned grade and what came of it."),
        "result": _finish(_models(Result), "grader-gate result", "Everything a run found."),
        "calibration": _finish(
            _models(Calibration), "grader-gate calibration", "Graders against people's labels, and what that supports."
        ),
        "baseline": _finish(
            _models(RecordHead, FrozenGrades),
            "grader-gate baseline line",
            "The first line says who froze what; each further one holds the repeats of one item.",
        ),
    }


def _finish(schema: Schema, title: str, description: str) -> Schema:
    tidy: Schema = _tidy(schema)
    return {"$schema": DRAFT, **tidy, "title": title, "description": description}


def _tidy(node: Any) -> Any:
    """Markup of docstrings becomes Markdown, and what only OpenAPI knows is dropped."""
    if isinstance(node, list):
        return [_tidy(part) for part in node]
    if not isinstance(node, dict):
        return node
    tidy = {key: _tidy(part) for key, part in node.items() if not (key == "discriminator" and "oneOf" in node)}
    if isinstance(text := tidy.get("description"), str):
        tidy["description"] = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")
    if "patternProperties" in tidy:
        tidy.setdefault("additionalProperties", False)
    return tidy


def _models(*models: type[BaseModel]) -> Schema:
    if len(models) == 1:
        return models[0].model_json_schema(by_alias=True)
    references, schema = models_json_schema([(model, "validation") for model in models], by_alias=True)
    return {"oneOf": [references[model, "validation"] for model in models], **schema}


# ---------------------------------------------------------------- configuration


def _config() -> Schema:
    from grader_gate.config import Config

    schema = Config.model_json_schema(by_alias=True)
    suite = schema["$defs"]["SuiteConfig"]["properties"]
    for name in ("cases", "ladders"):
        text = "Glob of files, or a list of globs, relative to the top of the repository"
        suite[name] = {"anyOf": [{"type": "string"}, suite[name]], "description": text}
    mutators = schema["$defs"]["Mutators"]["properties"]
    full = {key: value for key, value in suite["mutators"].items() if key != "default"}
    suite["mutators"] = {
        "description": "Which set, the names of some, or both in full",
        "anyOf": [mutators["use"], mutators["include"], full],
    }
    return schema


# ---------------------------------------------------------------- cases and ladders

_TEXT: Schema = {"type": ["string", "integer"]}
_NUMBER: Schema = {"type": "number"}


def _object(properties: Schema, *required: str, description: str = "") -> Schema:
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return {**schema, "description": description} if description else schema


def _list(*items: Schema, **limits: Any) -> Schema:
    return {"type": "array", "items": {"anyOf": list(items)} if len(items) > 1 else items[0], **limits}


def _definitions() -> Schema:
    """The short forms that fields share."""
    from grader_gate.suite.entry import VERDICT_WORDS

    words = "|".join("".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in word) for word in VERDICT_WORDS)
    file = _object(
        {"file": {"type": "string", "minLength": 1}}, "file", description="A text file, relative to this file"
    )
    text_or_file = {"anyOf": [_TEXT, file]}
    verdict: Schema = {
        "anyOf": [
            {"enum": ["correct", "partial", "incorrect"]},
            {"type": "string", "pattern": rf"^\s*({words})\s*$"},
            {"enum": [True, False, 0, 1]},
        ],
    }
    label = {"anyOf": [{"$ref": "#/$defs/verdict"}, {"type": "null"}]}
    weighted = _object({"criterion": _TEXT, "weight": {"type": ["number", "null"], "exclusiveMinimum": 0}}, "criterion")
    criteria = _list(_TEXT, weighted, minItems=1)
    nullable_text = {"type": ["string", "integer", "null"]}
    full_rubric = _object({"text": nullable_text, "criteria": {"anyOf": [criteria, {"type": "null"}]}})
    source = _object({"id": _TEXT, "text": text_or_file, "file": {"type": "string"}}, "id")
    rated = _object({"rater": _TEXT, "label": label, "verdict": label})
    return {
        "text": text_or_file,
        "verdict": verdict,
        "words": {"anyOf": [_TEXT, _list(_TEXT)]},
        "rubric": {"anyOf": [_TEXT, file, criteria, full_rubric]},
        "sources": {"anyOf": [{"type": "object", "additionalProperties": text_or_file}, _list(_TEXT, source)]},
        "labels": {
            "anyOf": [
                {"type": "object", "additionalProperties": label},
                _list(label, rated),
                {"$ref": "#/$defs/verdict"},
            ]
        },
        "question": {
            "anyOf": [
                text_or_file,
                _object(
                    {
                        "prompt": text_or_file,
                        "model_answer": {"$ref": "#/$defs/reference"},
                        "modelAnswer": {"$ref": "#/$defs/reference"},
                        "rubric": {"anyOf": [{"$ref": "#/$defs/rubric"}, {"type": "null"}]},
                    },
                    "prompt",
                ),
            ]
        },
        "reference": {"anyOf": [text_or_file, _list(_TEXT, minItems=1, maxItems=1), {"type": "null"}]},
        "metadata": {"type": "object"},
    }


_FIELDS: dict[str, tuple[Schema, str]] = {
    "id": (_TEXT, "Unique in the suite; keeps its baseline as long as it stays"),
    "question": ({"$ref": "#/$defs/question"}, "What the answer replies to"),
    "reference": ({"$ref": "#/$defs/reference"}, "A right answer"),
    "answer": ({"$ref": "#/$defs/text"}, "The answer to be graded"),
    "rubric": ({"$ref": "#/$defs/rubric"}, "What a right answer needs: text, a file, or weighted criteria"),
    "expected": ({"$ref": "#/$defs/verdict"}, "The verdict a trustworthy grader returns"),
    "labels": (
        {"$ref": "#/$defs/labels"},
        "Verdicts of raters; a strict majority can stand for `expected`",
    ),
    "tags": ({"$ref": "#/$defs/words"}, "Slices the case belongs to"),
    "evidence": ({"$ref": "#/$defs/words"}, "What a faithful reason cites"),
    "facts": ({"$ref": "#/$defs/words"}, "Facts the reference rests on, for mutators"),
    "entities": ({"$ref": "#/$defs/words"}, "Names in the reference, for mutators"),
    "sources": ({"$ref": "#/$defs/sources"}, "Documents the answer may cite"),
    "split": (_TEXT, "Part of the data, such as `golden` or `holdout`"),
    "source": (_TEXT, "Where it comes from"),
    "tolerance": (
        {"type": "number", "minimum": 0},
        "How far a number may be off: below 1 relative, from 1 on in its own unit",
    ),
    "metadata": ({"$ref": "#/$defs/metadata"}, "Anything else"),
    "rungs": ({"$ref": "#/$defs/rungs"}, "Answers in order, the worst first, each one nameable defect better"),
    "level": (_NUMBER, "Higher is better; equal levels are not compared"),
    "defect": (_TEXT, "What this answer lacks against the one above"),
}


def _entry(names: dict[str, str], *required: str) -> Schema:
    """The schema of one mapping: every spelling of every field, null where it counts as absent."""
    from grader_gate.suite.entry import METADATA_KEYS

    properties: Schema = {}
    for spelling, field in names.items():
        form, description = _FIELDS[field]
        must = spelling in required
        properties[spelling] = {
            **(form if must else {"anyOf": [form, {"type": "null"}]}),
            "description": description if spelling == field else f"Another name of `{field}`. {description}",
        }
    for key in sorted(METADATA_KEYS):
        properties.setdefault(key, {"description": "Kept below `metadata`"})
    schema = _object(properties, *(field for field in required if _alone(names, field)))
    choices = [
        {"anyOf": [{"required": [spelling]} for spelling, meant in names.items() if meant == field]}
        for field in required
        if not _alone(names, field)
    ]
    return {**schema, "allOf": choices} if choices else schema


def _alone(names: dict[str, str], field: str) -> bool:
    return sum(meant == field for meant in names.values()) == 1


def _suite_file(kind: str) -> Schema:
    from grader_gate.suite.cases import CASE_KEYS
    from grader_gate.suite.entry import METADATA_KEYS
    from grader_gate.suite.ladders import LADDER_KEYS, RUNG_KEYS

    shared = {key: field for key, field in {**LADDER_KEYS, **CASE_KEYS}.items() if key not in ("id", "rungs", "answer")}
    top: Schema = {
        "cases": {"anyOf": [_list({"$ref": "#/$defs/case"}), {"type": "null"}]},
        "ladders": {"anyOf": [_list({"$ref": "#/$defs/ladder"}), {"type": "null"}]},
        "defaults": {
            "anyOf": [_entry(shared), {"type": "null"}],
            "description": "Fields that all entries share; an entry's own come first",
        },
        "source": {"type": ["string", "integer", "null"], "description": _FIELDS["source"][1]},
        "version": {"description": "Of the set"},
        "$schema": {"type": "string"},
        **{key: {"description": "Kept for readers"} for key in sorted(METADATA_KEYS)},
    }
    whole = _object(top)
    whole["anyOf"] = [{"required": ["cases"]}, {"required": ["ladders"]}]
    one = {"$ref": f"#/$defs/{kind}"}
    return {
        "anyOf": [_list(one), whole, one],
        "$defs": {
            **_definitions(),
            "case": _entry(CASE_KEYS, "id", "answer"),
            "ladder": _entry(LADDER_KEYS, "id", "rungs"),
            "rung": _entry(RUNG_KEYS, "answer"),
            "rungs": _list(_TEXT, {"$ref": "#/$defs/rung"}, minItems=2),
        },
    }
