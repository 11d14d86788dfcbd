import pytest

from grader_gate.github.inputs import BadInput, read_inputs


def test_defaults(tmp_path):
    read = read_inputs({}, tmp_path)
    assert (read.token, read.config, read.suites, read.max_calls, read.block) == (
        None,
        ".grader-gate.yml",
        (),
        None,
        False,
    )
    assert (read.key, read.base, read.head, read.comment, read.check, read.ca_bundle) == ("", "", "", True, True, None)
    assert read.out == tmp_path.resolve() / "grader-gate-report"


def test_empty_inputs_are_defaults_for_required_is_not_enforced(tmp_path):
    env = {
        f"INPUT_{n}": " "
        for n in ("TOKEN", "CONFIG", "SUITES", "MAX_CALLS", "OUT", "COMMENT", "CHECK", "MODE", "CA_BUNDLE")
    }
    assert read_inputs(env, tmp_path) == read_inputs({}, tmp_path)


def test_the_token_comes_from_the_input_else_from_the_variable_and_never_shows(tmp_path):
    assert read_inputs({"GITHUB_TOKEN": "from-variable"}, tmp_path).token == "from-variable"
    read = read_inputs({"GITHUB_TOKEN": "from-variable", "INPUT_TOKEN": "from-input"}, tmp_path)
    assert read.token == "from-input"
    assert "from-" not in repr(read)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("comment", "yes", "neither `true` nor `false`"),
        ("check", "1", "neither `true` nor `false`"),
        ("max_calls", "-1", "no whole number"),
        ("max_calls", "1e3", "no whole number"),
        ("max_calls", "٣", "no whole number"),
        ("mode", "report", "only `block` can be asked for here"),
        ("key", "a b", "use letters, digits"),
        ("key", "-->", "use letters, digits"),
        ("suites", "good,--bad", "is no suite's name"),
        ("config", "../other.yml", "outside the repository"),
        ("config", "/etc/passwd", "outside the repository"),
        ("out", "../out", "outside the workspace"),
        ("out", ".", "outside the workspace"),
        ("out", "/tmp", "outside the workspace"),
        ("out", ".git/hooks", "git's own folder"),
        ("out", "link/x", "outside the workspace"),
        ("ca_bundle", "missing.pem", "no such file"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(tmp_path, name, value, said):
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(BadInput, match=f"^input `{name}`: .*{said}") as raised:
        read_inputs({f"INPUT_{name.upper()}": value}, root)
    assert "\n" not in str(raised.value)


def test_booleans_and_lists_in_every_form(tmp_path):
    read = read_inputs({"INPUT_COMMENT": "FALSE", "INPUT_CHECK": "True", "INPUT_SUITES": "a,b ,\n c\na"}, tmp_path)
    assert (read.comment, read.check, read.suites) == (False, True, ("a", "b", "c"))
