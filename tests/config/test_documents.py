"""Documents: values, lines and limits of YAML, JSON and JSON Lines."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from grader_gate.documents import MAX_ALIASED, MAX_DEPTH, DocumentError, decode, dotted, read_document
from grader_gate.errors import ExitCode


def value(text: str | bytes, name: str = "a.yml"):
    data = text.encode() if isinstance(text, str) else text
    return read_document(data, name).value


def error(text: str | bytes, name: str = "a.yml") -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        value(text, name)
    assert caught.value.exit_code is ExitCode.USAGE
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("Off", "Off"), ("y", "y"),
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("2024-01-31", "2024-01-31"), ("12:30:45", "12:30:45"), ("1_000", "1_000"),
        ("12", 12), ("-3", -3), ("0", 0), ("007", "007"), ("+5", "+5"), ("0x1F", "0x1F"), ("0o17", "0o17"),
        ("1.50", 1.5), ("1e3", 1000.0), (".5", 0.5), ("-2.5E-1", -0.25), ("1.2.3", "1.2.3"), ("00.5", "00.5"),
        ("'12'", "12"), ('"true"', "true"), ("!!str 12", "12"), ("!!float 3", 3.0), ("! 12", "12"), ("-", [None]),
        ("=", "="), ("nan", "nan"), ("inf", "inf"), ("\U0001f600", "\U0001f600"),
    ],
)  # fmt: skip
def test_yaml_scalars_keep_what_people_mean(written, meant):
    got = value(f"k: {written}\n" if written != "-" else "k:\n  -\n")["k"]
    assert got == meant
    assert type(got) is type(meant)


@pytest.mark.parametrize("written", [".nan", ".inf", "-.INF", "1e999"])
def test_yaml_refuses_numbers_that_are_none(written):
    assert error(f"a: 1\nb: {written}\n").line == 2


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_json_refuses_numbers_that_are_none(written):
    assert error(f'{{"a": {written}}}', "a.json").path == "a.json"
    assert error(f'{{"a": 1}}\n{{"a": {written}}}', "a.jsonl").line == 2


def test_keys_are_text_as_written():
    assert value("1: a\ntrue: b\nyes: c\n1.0: d\n") == {"1": "a", "true": "b", "yes": "c", "1.0": "d"}


def test_merge_keys_and_aliases():
    text = "base: &b {q: 1, r: 2}\nx: {<<: *b, r: 3}\ny: {<<: [*b, {s: 4}]}\nz: *b\n"
    got = value(text)
    assert got["x"] == {"r": 3, "q": 1}
    assert got["y"] == {"q": 1, "r": 2, "s": 4}
    assert got["z"] == {"q": 1, "r": 2}
    assert value('"<<": 1\n') == {"<<": 1}


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", 5, "b.c: the key stands twice, first on line 3"),
        ("- x\n- k: 1\n  k: 2\n", 3, "[1].k: the key stands twice, first on line 2"),
        ("a: 1\nb: !!python/object/apply:os.system [ls]\n", 2, "tag `!!python/object/apply:os.system` is not allowed"),
        ("a: !mine 3\n", 1, "tag `!mine` is not allowed"),
        ("a: !!int x\n", 1, "is not what its tag"),
        ("a: !!timestamp 2020-01-01\n", 1, "not allowed"),
        ("a: !!set {x}\n", 1, "not allowed"),
        ("a: 1\n? [x, y]\n: 2\n", 2, "a key must be plain text"),
        ("a: *x\n", 1, "has no anchor"),
        ("a: &x [1, *x]\n", 1, "inside its own anchor"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a: [1, 2\nb: 3\n", 2, "not valid YAML"),
        ("a: b: c\n", 1, "needs quotes"),
        ("a:\n\t- b\n", 2, "indent with spaces"),
        ("a: 1\nb: {<<: 3}\n", 2, "merge key"),
        ("a: ok\nb: \x07\n", 2, "control character (U+0007)"),
    ],
)
def test_yaml_errors_have_a_line(text, line, part):
    found = error(text)
    assert found.line == line
    assert part in str(found)
    assert str(found).startswith(f"a.yml:{line}: ")


@pytest.mark.parametrize(
    ("name", "text", "line", "part"),
    [
        ("a.json", '{"a": 1,\n "b": {"c": 1,\n "c": 2}}', 3, "b.c: the key stands twice, first on line 2"),
        ("a.json", '{"a": 1\n "b": 2}', 2, "not valid JSON"),
        ("a.json", '{"a": 1}\n{"a": 2}\n', 2, "*.jsonl"),
        ("a.json", "", 1, "not valid JSON"),
        ("a.jsonl", '{"a": 1}\n\n{"a": 2,}\n', 3, "not valid JSON"),
        ("a.jsonl", '{"a": 1}\n{"a": 1, "a": 2}\n', 2, "a: the key stands twice"),
        ("a.jsonl", '[1]\n{"a": "\\ud800"}\n', 2, "surrogate"),
        ("a.ndjson", '"x\ty"', 1, "not valid JSON"),
    ],
)
def test_json_errors_have_a_line(name, text, line, part):
    found = error(text, name)
    assert found.line == line
    assert part in str(found)


def test_surrogate_pairs_are_text():
    assert value('"\\ud83d\\ude00"', "a.json") == "\U0001f600"


@pytest.mark.parametrize("name", ["a.yml", "a.json", "a.jsonl"])
@pytest.mark.parametrize("opener", ["[]", '{"a":}'])
def test_nesting_is_bounded(name, opener):
    head, tail = opener[:-1], opener[-1]
    fits = head * MAX_DEPTH + ("" if head == "[" else "1") + tail * MAX_DEPTH
    assert value(fits.replace(":", ": "), name) is not None
    for depth in (MAX_DEPTH + 1, 100_000):
        deep = head * depth + ("" if head == "[" else "1") + tail * depth
        assert "deeper than 64" in str(error(deep.replace(":", ": "), name))


def test_alias_bomb_is_refused_where_it_goes_off():
    lines = ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    for below, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join(['*' + below] * 9)}]")
    found = error("\n".join(lines))
    assert "aliases" in str(found)
    assert found.line is not None
    assert 5 <= found.line <= 9


def test_a_long_text_aliased_often_is_refused():
    fits = MAX_ALIASED // (100_000 + 8)  # a value counts 8 beside its text
    text = f"a: &a {'x' * 100_000}\nb:\n" + "  - *a\n" * fits
    assert len(value(text)["b"]) == fits
    assert error(text + "  - *a\n").line == fits + 3


def test_size_limit_is_named():
    with pytest.raises(DocumentError, match=r"^big\.yml: the file has 50\.0 MB, the limit is 20 MB"):
        read_document(b"x" * 50_000_000, "big.yml")


def test_bytes():
    assert decode("\ufeffa\r\nb\rc\n".encode(), "x") == "a\nb\rc\n"
    assert value(b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n  y\r\n") == {"a": 1, "b": "x\ny\n"}
    assert value("a: e\u0301\n") == {"a": "e\u0301"}
    found = error(b"\xef\xbb\xbfa: 1\nb: \xff\n")
    assert (found.line, found.detail) == (2, "byte 0xff is not UTF-8: save the file as UTF-8")
    assert "UTF-16" in str(error("a: 1".encode("utf-16")))


def test_unknown_extension():
    assert "*.jsonl" in str(error("x", "cases.txt"))
    assert "unknown format" in str(error("x", "dir.d/yaml"))


def test_empty_files():
    assert value("") is None
    assert value("# only a comment\n") is None
    assert value("\n\n", "a.jsonl") == []


YAML_TEXT = """\
# a comment
cases:
  - id: one
    tags: [x,
      y]
  -
    id: two
    rubric:
      file: r.md
    list:
    - plain
    - &n {deep: 1}
"""


def test_yaml_lines():
    document = read_document(YAML_TEXT.encode(), "a.yml")
    lines = {
        (): 1, ("cases",): 2, ("cases", 0): 3, ("cases", 0, "tags"): 4, ("cases", 0, "tags", 1): 5,
        ("cases", 1): 7, ("cases", 1, "rubric", "file"): 9, ("cases", 1, "rubric", "none"): 8,
        ("cases", 1, "list", 0): 11, ("cases", 1, "list", 1, "deep"): 12, ("cases", 9, "id"): 2,
    }  # fmt: skip
    assert {keys: document.line(keys) for keys in lines} == lines


def test_json_lines():
    text = '{"a": [\n 1,\n "x,]",\n {"b": "\\"}",\n  "c": [[],\n [2]]}\n],\n"d": {}}'
    document = read_document(text.encode(), "a.json")
    assert document.value == {"a": [1, "x,]", {"b": '"}', "c": [[], [2]]}], "d": {}}
    lines = {("a",): 1, ("a", 1): 3, ("a", 2): 4, ("a", 2, "c"): 5, ("a", 2, "c", 1): 6, ("d",): 8, ("a", 2, "z"): 4}
    assert {keys: document.line(keys) for keys in lines} == lines


def test_jsonl_lines():
    document = read_document(b'{"a": 1}\n\n{"b": {"c": 2}}\n', "a.jsonl")
    assert [document.line((0,)), document.line((1, "b", "c")), document.line((7,))] == [1, 3, None]


def test_dotted():
    assert dotted(("cases", 3, "rubric", "file")) == "cases[3].rubric.file"
    assert dotted((0, "id")) == "[0].id"


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff\u2028\u2029")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc<=:#- '\"", max_size=4), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(PLAIN)
@settings(max_examples=150, deadline=None)
def test_json_round_trip_and_every_place_has_a_line(plain):
    text = json.dumps(plain, indent=1)
    document = read_document(text.encode(), "a.json")
    assert document.value == plain
    rows = text.split("\n")

    def check(keys, part):
        line = document.line(keys)
        assert line is not None
        assert 1 <= line <= len(rows)
        if keys and isinstance(keys[-1], str):
            assert json.dumps(keys[-1]) in rows[line - 1]
        children = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, child in children:
            check((*keys, key), child)

    check((), plain)


@given(PLAIN)
@settings(max_examples=150, deadline=None)
def test_yaml_reads_what_a_yaml_writer_quotes(plain):
    # Double quotes make every text explicit, so that only our reading of structure is compared.
    text = yaml.safe_dump(_quoted(plain), default_style=None, allow_unicode=True, sort_keys=False)
    assert read_document(text.encode(), "a.yaml").value == _unquoted(plain)


def _quoted(plain):
    """Texts with a mark in front, so that none reads as a number, and numbers as a text too."""
    if isinstance(plain, dict):
        return {f"k{key}": _quoted(child) for key, child in plain.items()}
    if isinstance(plain, list):
        return [_quoted(child) for child in plain]
    return f"t{plain}"


_unquoted = _quoted
