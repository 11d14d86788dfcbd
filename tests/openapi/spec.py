"""GitHub's own description of its API, as a judge of requests and responses."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import jsonschema_rs

SLICE = Path(__file__).with_name("github_slice.json")


def to_json_schema(node: Any) -> Any:
    """OpenAPI 3.0's dialect as JSON Schema: ``nullable`` becomes a type of its own."""
    if isinstance(node, list):
        return [to_json_schema(child) for child in node]
    if not isinstance(node, dict):
        return node
    schema = {key: to_json_schema(child) for key, child in node.items() if key != "nullable"}
    if node.get("nullable") is not True:
        return schema
    if isinstance(schema.get("type"), str) and "$ref" not in schema:
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def _pattern(path: str) -> str:
    """A template as an expression; git's references hold slashes."""
    values = "(.+)" if "/git/ref" in path else "([^/]+)"
    return re.sub(r"\{[^}]+\}", lambda found: values if found[0] == "{ref}" else "([^/]+)", path)


class Spec:
    """Validates one request or response at a time; every complaint is one line."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._components = to_json_schema(document["components"])
        self._operations = [
            (verb.upper(), re.compile(_pattern(path) + r"\Z"), path, operation)
            for path, verbs in document["paths"].items()
            for verb, operation in verbs.items()
        ]
        self._validators: dict[str, jsonschema_rs.Validator] = {}

    @staticmethod
    @cache
    def load() -> Spec:
        """The committed slice."""
        return Spec(json.loads(SLICE.read_text(encoding="utf-8")))

    def knows(self, verb: str, path: str) -> bool:
        """Whether the slice describes this operation."""
        return self._find(verb, path) is not None

    def request(self, verb: str, path: str, query: str, body: Any) -> list[str]:
        """What is wrong with a request."""
        if (found := self._find(verb, path)) is None:
            return [f"{verb} {path}: not in GitHub's description (or not in the slice)"]
        template, operation, values = found
        problems = []
        known = {p["name"]: p for p in map(self._resolve, operation.get("parameters", []))}
        names = re.findall(r"\{([^}]+)\}", template)
        for name, value in [*zip(names, values, strict=True), *parse_qsl(query, keep_blank_values=True)]:
            parameter = known.get(name)
            if parameter is None:
                problems.append(f"{verb} {path}: unknown parameter {name}")
                continue
            schema = parameter["schema"]
            typed: Any = int(value) if schema.get("type") == "integer" and value.isdigit() else value
            problems += self._check(f"{template} {name}", schema, typed, f"{verb} {path}: {name}")
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            return problems + ([f"{verb} {path}: takes no body"] if body is not None else [])
        if body is None:
            required = operation["requestBody"].get("required", False)
            return problems + ([f"{verb} {path}: body missing"] if required else [])
        problems += self._check(f"{verb} {template} body", content["schema"], body, f"{verb} {path}: body")
        return problems + [
            f"{verb} {path}: body: unknown field {name}" for name in self._unknown(content["schema"], body)
        ]

    def response(self, verb: str, path: str, status: int, body: Any) -> list[str]:
        """What is wrong with an answer of the stand-in."""
        found = self._find(verb, path)
        if found is None or status >= 500 or status in (401, 429):
            return []
        template, operation, _ = found
        described = operation["responses"].get(str(status))
        if described is None:
            # Refusals that any operation may answer are described once, as basic errors.
            described = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/basic-error"}}}}
            if status < 400:
                return [f"{verb} {path}: {status} is no answer of this operation"]
        content = self._resolve(described).get("content", {}).get("application/json")
        if content is None:
            return [f"{verb} {path}: {status} has no body"] if body is not None and status < 400 else []
        return self._check(f"{verb} {template} {status}", content["schema"], body, f"{verb} {path}: {status}")

    def _find(self, verb: str, path: str) -> tuple[str, dict[str, Any], tuple[str, ...]] | None:
        for known, pattern, template, operation in self._operations:
            if known == verb and (match := pattern.match(path)):
                return template, operation, match.groups()
        return None

    def _resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            _, _, group, name = node["$ref"].split("/")
            node = self._components[group][name]
        return node

    def _check(self, key: str, schema: dict[str, Any], value: Any, where: str) -> list[str]:
        if key not in self._validators:
            whole = {"allOf": [to_json_schema(schema)], "components": self._components}
            self._validators[key] = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        return [
            f"{where}: {'/'.join(map(str, error.instance_path)) or '(whole)'}: {error.message[:300]}"
            for error in self._validators[key].iter_errors(value)
        ]

    def _unknown(self, schema: dict[str, Any], body: Any) -> list[str]:
        """Fields that GitHub would ignore in silence: a misspelt name must not pass."""
        properties = self._resolve(schema).get("properties")
        if not isinstance(body, dict) or not properties:
            return []
        return sorted(set(body) - set(properties))
