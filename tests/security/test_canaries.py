"""Code that a pull request brings never runs where it must not. Every piece of it would leave a file behind."""

import os
import subprocess
import sys

import pytest

from grader_gate.check import check
from grader_gate.errors import UsageError
from grader_gate.runs.progress import progress_for
from tests.flow.repository import CASES, CONFIG, Repository, base_files, case_file
from tests.security.serving import model_server

MOVED = case_file({**CASES, "two": ("It is half", "correct")})
"""Head's cases, so that something is affected and graded."""


@pytest.fixture
def repo(tmp_path, capsys):
    made = Repository(tmp_path / "repo", capsys)
    made.commit(base_files(), "base")
    made.git("switch", "-q", "-c", "topic")
    return made


@pytest.fixture
def canary(tmp_path):
    """A folder whose files say who ran; empty at the end of a test that holds."""
    folder = tmp_path / "canaries"
    folder.mkdir()
    return folder


def alive(canary):
    return sorted(path.name for path in canary.iterdir())


def python_canary(canary, name):
    return f"open({str(canary / name)!r}, 'w').close()\n"


def shell_canary(canary, name):
    return f"#!/bin/sh\ntouch '{canary / name}'\n"


def grade_untrusted(repo, tmp_path, **options):
    """As the action does for a fork: head's code must not run."""
    return check(
        repo.root,
        "main",
        "topic",
        out=tmp_path / "out",
        environ={"PATH": os.environ["PATH"]},
        progress=lambda label: progress_for(sys.stderr, quiet=True, label=label),
        run_head_code=False,
        **options,
    )


def head_code(canary):
    """Every place of a Python grader in which code could hide."""
    body = python_canary(canary, "judge")
    return {
        "code/judge.py": body + base_files()["code/judge.py"],
        "code/conftest.py": python_canary(canary, "conftest"),
        "code/sitecustomize.py": python_canary(canary, "sitecustomize"),
        "code/usercustomize.py": python_canary(canary, "usercustomize"),
        "code/__init__.py": python_canary(canary, "package"),
        "code/json.py": python_canary(canary, "json"),
        "sitecustomize.py": python_canary(canary, "top-sitecustomize"),
        "usercustomize.py": python_canary(canary, "top-usercustomize"),
        "conftest.py": python_canary(canary, "top-conftest"),
        "yaml.py": python_canary(canary, "yaml"),
        "jinja2/__init__.py": python_canary(canary, "jinja2"),
        "grader_gate/__init__.py": python_canary(canary, "grader_gate"),
        "setup.py": python_canary(canary, "setup"),
        "evil.pth": f"import os; open({str(canary / 'pth')!r}, 'w')\n",
        "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        "evil-1.0.dist-info/entry_points.txt": "[grader_gate.graders]\nevil = yaml:x\n[grader_gate.mutators]\ne = yaml:x\n",
        "cases/all.yaml": MOVED,
    }


@pytest.mark.parametrize("how", ["fork", "policy"])
def test_head_s_python_is_not_run(repo, tmp_path, canary, how):
    if how == "policy":
        repo.git("switch", "-q", "main")
        repo.commit({".grader-gate.yml": CONFIG + "policy: {head_code: never}\n"})
        repo.git("switch", "-q", "topic")
        repo.git("merge", "-q", "main")
    repo.commit(head_code(canary))
    if how == "policy":
        ran = repo.check()
        assert ran.code in (0, 1), ran.err
        notices = [notice["message"] for notice in ran.result["notices"]]
    else:
        notices = [notice.message for notice in grade_untrusted(repo, tmp_path).notices]
    assert "graders in code are the base branch's: code of the head is not run here" in notices
    assert alive(canary) == []


def test_the_canary_sings_where_head_s_code_may_run(repo, canary):
    """Otherwise the test above would hold for a canary that is dead."""
    repo.commit({"code/judge.py": head_code(canary)["code/judge.py"], "cases/all.yaml": MOVED})
    assert repo.check().code in (0, 1)
    assert alive(canary) == ["judge"]


def test_even_where_it_may_run_only_the_named_module_does(repo, canary):
    files = head_code(canary)
    del files["code/json.py"]  # imported by nothing; a judge that imports it gets the library's, which is loaded
    repo.commit(files)
    assert repo.check().code in (0, 1)
    assert alive(canary) == ["judge"]


def test_a_command_of_head_is_not_run(repo, tmp_path, canary):
    command = "kind: command\n    command: [./grade.sh]\n    rubric: rubric.md"
    config = CONFIG.replace("kind: python\n    callable: judge:grade\n    path: code\n    rubric: rubric.md", command)
    assert config != CONFIG
    good = '#!/bin/sh\ncat > /dev/null\necho \'{"verdict": "correct"}\'\n'
    repo.git("switch", "-q", "main")
    repo.commit({".grader-gate.yml": config, "grade.sh": good})
    (repo.root / "grade.sh").chmod(0o755)
    repo.commit()
    repo.git("switch", "-q", "-C", "topic")
    repo.commit(
        {
            "grade.sh": shell_canary(canary, "command") + good,
            ".grader-gate.yml": config.replace("./grade.sh", "sh, -c, 'touch " + str(canary / "inline") + "'"),
            "cases/all.yaml": MOVED,
        }
    )
    result = grade_untrusted(repo, tmp_path)
    assert result.suites
    assert alive(canary) == []


def test_a_new_grader_in_code_is_refused(repo, tmp_path, canary):
    config = CONFIG.replace("suites:", "  fresh: {kind: command, command: [sh, -c, 'touch X']}\nsuites:")
    config = config.replace("touch X", f"touch {canary / 'fresh'}") + "  more: {grader: fresh, cases: 'cases/*.yaml'}\n"
    repo.commit({".grader-gate.yml": config})
    with pytest.raises(UsageError, match=r"graders\.fresh: code of the head is not run here"):
        grade_untrusted(repo, tmp_path)
    assert alive(canary) == []


def test_a_mutator_of_head_is_not_loaded(repo, canary):
    """Mutators run in our own process: they are base's, even where head's graders may run."""
    config = CONFIG.replace("mutators: none", "mutators: {use: none, modules: ['mine:make']}")
    repo.commit({".grader-gate.yml": config, "mine.py": python_canary(canary, "mutator"), "cases/all.yaml": MOVED})
    repo.check()
    assert alive(canary) == []


TEMPLATES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ cycler.__init__.__globals__.os.popen('touch CANARY').read() }}",
    "{{ lipsum.__globals__['os'].system('touch CANARY') }}",
    "{{ self._TemplateReference__context.eval_ctx.environment }}",
    "{{ namespace.__init__.__globals__['__builtins__']['open']('CANARY', 'w') }}",
    "{{ (question|attr('__class__')|attr('__mro__'))[1] }}",
    "{{ question.__init__.__globals__ }}",
    "{{ '%c'|format(95) }}",
    "{{ '{0.__class__}'.format(question) }}",
    "{{ question.format_map({}) }}",
    "{{ dict.__base__.__subclasses__() }}",
    "{{ range.__class__ }}",
    "{% import 'os' as os %}{{ os }}",
    "{% include '../cases/all.yaml' %}",
    "{% include '/etc/passwd' %}",
    "{% include '.grader-gate.yml' %}",
    "{% extends 'x' %}",
    "{{ joiner.__globals__ }}",
    "{{ request }}",
    "{{ [].append(1) }}",
    "{{ question | groupby('__class__') }}",
    "{{ question | xmlattr }}",
    "{{ ''['\\x5f\\x5fclass\\x5f\\x5f'] }}",
]


def chat(repo, url):
    """Base's grader is a prompt."""
    repo.git("switch", "-q", "main")
    config = CONFIG.replace(
        "kind: python\n    callable: judge:grade\n    path: code\n    rubric: rubric.md",
        "kind: chat\n    provider: local\n    model: m\n    prompt: prompts/judge.md",
    )
    config += f'providers: {{local: {{base_url: "{url}", max_retries: 0}}}}\n'
    repo.commit({".grader-gate.yml": config, "prompts/judge.md": "{{ question }} {{ answer }}"})
    repo.git("switch", "-q", "-C", "topic")


@pytest.mark.parametrize(
    "template",
    ["{% set x = namespace() %}{% set x.__class__ = 1 %}{{ x }}", "{{ question | map(attribute='__class__') | list }}"],
)
def test_a_template_that_renders_all_the_same_has_learnt_nothing(repo, template):
    with model_server(lambda m, b, n: '{"verdict": "correct", "reason": "ok"}') as server:
        chat(repo, server.base_url)
        repo.commit({"prompts/judge.md": f"{{{{ question }}}} {{{{ answer }}}} {template}"})
        repo.check()
        sent = " ".join(one.body["messages"][0]["content"] for one in server.received)
    assert "It is half" in sent
    assert "<class" not in sent


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_of_head_reaches_no_python_and_no_other_file(repo, canary, template):
    chat(repo, "http://127.0.0.1:9")
    hostile = template.replace("CANARY", str(canary / "template"))
    repo.commit({"prompts/judge.md": f"{{{{ question }}}} {{{{ answer }}}} {hostile}"})
    ran = repo.check()
    assert ran.code == 2, (ran.code, ran.out, ran.err)
    assert "prompts/judge.md" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert alive(canary) == []


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['touch CANARY']",
        "!!python/object/new:os.system ['touch CANARY']",
        "!!python/name:os.system",
        "!!python/module:os",
        "!!python/object/apply:builtins.open [CANARY, w]",
        "!include CANARY",
        "!env HOME",
        "!<tag:yaml.org,2002:python/object/apply:os.system> ['touch CANARY']",
    ],
)
@pytest.mark.parametrize("place", [".grader-gate.yml", "cases/all.yaml", "ladders/all.yaml"])
def test_a_yaml_tag_makes_nothing(repo, canary, tag, place):
    repo.commit({place: f"x: {tag.replace('CANARY', str(canary / 'yaml'))}\n"})
    ran = repo.check()
    assert ran.code == 2
    assert f"{place}:1" in ran.err
    assert "the tag" in ran.err
    assert alive(canary) == []


def test_git_runs_nothing_that_the_repository_names(repo, canary):
    """`.git/config`, hooks and attributes of a hostile checkout: file-system monitor, text conversion, filters, helpers."""
    script = canary.parent / "canary.sh"
    script.write_text(shell_canary(canary, "git"))
    script.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass", "core.gitProxy",
        "core.alternateRefsCommand", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean",
        "filter.evil.smudge", "filter.evil.process", "merge.evil.driver", "gpg.program", "gpg.ssh.program",
        "interactive.diffFilter", "sequence.editor", "uploadpack.packObjectsHook", "remote.origin.uploadpack",
        "pager.diff", "pager.log", "trailer.x.command", "browser.x.cmd", "sendemail.smtpserver", "lfs.customtransfer.x.path",
    ):  # fmt: skip
        repo.git("config", key, str(script))
    for key in ("credential.helper", "alias.rev-parse", "alias.cat-file", "alias.ls-tree", "alias.diff-tree"):
        repo.git("config", key, f"!{script}")
    repo.git("config", "remote.origin.url", f"ext::{script}")
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "include.path", str(canary.parent / "more"))
    (canary.parent / "more").write_text(f"[core]\n\tfsmonitor = {script}\n\thooksPath = {canary.parent / 'hooks'}\n")
    hooks = [repo.root / ".git" / "hooks", canary.parent / "hooks"]
    for folder in hooks:
        folder.mkdir(exist_ok=True)
        for hook in (
            "post-checkout",
            "post-index-change",
            "reference-transaction",
            "fsmonitor-watchman",
            "pre-auto-gc",
        ):
            (folder / hook).write_text(shell_canary(canary, hook))
            (folder / hook).chmod(0o755)
    everywhere = "* diff=evil filter=evil merge=evil text\n"
    (repo.root / ".git" / "info").mkdir(exist_ok=True)
    (repo.root / ".git" / "info" / "attributes").write_text(everywhere)
    repo.write({".gitattributes": everywhere, "cases/all.yaml": MOVED, "rubric.md": "lenient: changed\n"})
    for head in ("topic", "WORKTREE"):
        ran = repo.check(head=head)
        assert ran.code in (0, 1), ran.err
    assert alive(canary) == []


NAMES = [
    "$(touch CANARY)", "`touch CANARY`", "; touch CANARY", "| touch CANARY", "& touch CANARY", "\ntouch CANARY", "-c core.fsmonitor=x",
    "--upload-pack=x", "-exec", "{{ 7*7 }}", "'; x", '"; x', "%0a::error::x", "\x1b[31m", "\u202egpj",
]  # fmt: skip


def test_file_names_are_only_names(repo, canary, tmp_path):
    for index, name in enumerate(NAMES):
        safe = name.replace("CANARY", "x").replace("/", "_")
        cases = case_file({f"n{index}": ("It is good", "correct")})
        repo.write({f"cases/{safe}.yaml": cases, f"prompts/{safe}": "x"})
    repo.commit({"cases/all.yaml": MOVED})
    ran = repo.check()
    assert ran.code in (0, 1), ran.err
    assert not list(repo.root.glob("x")) + list(tmp_path.glob("x"))
    assert ran.suite["items"] > 0


def test_branches_and_revisions_are_only_names(repo, canary):
    for name in ("$(touch${IFS}x)", "`id`", "a;b", "a&b", "a'b", 'a"b', "::error::x"):
        try:
            repo.git("branch", name, "main")
        except subprocess.CalledProcessError:
            continue
        assert repo.check(base=name).code == 0
    for name in ("--upload-pack=touch x", "-c", "--exec=x", "a..b", "HEAD:cases", "main\nx", "\x1b[31m", ""):
        ran = repo.gate("check", f"--base={name}", "--head", "topic")
        assert ran.code == 2
        assert "\x1b" not in ran.err
    assert not (repo.root / "x").exists()


@pytest.mark.parametrize("start", [["-m", "grader_gate"], ["-I", "-m", "grader_gate"]])
def test_modules_in_the_checkout_do_not_shadow_the_program_s(repo, canary, start):
    """Started from inside a hostile checkout, with the key in the environment."""
    planted = {name: text for name, text in head_code(canary).items() if "/" not in name or name.startswith("jinja2")}
    planted |= {
        f"{name}.py": python_canary(canary, name) for name in ("pydantic", "regex", "tabulate", "httpx", "rich")
    }
    repo.commit({**planted, "cases/all.yaml": MOVED})
    env = {"PATH": os.environ["PATH"], "HOME": str(canary.parent)}
    command = [sys.executable, *start, "check", "--base", "main", "--head", "topic", "--quiet"]
    done = subprocess.run(command, cwd=repo.root, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert alive(canary) == []


def test_links_and_submodules_of_head_lead_nowhere(repo, tmp_path):
    (tmp_path / "secret.yaml").write_text("cases: []\n")
    (repo.root / "cases" / "all.yaml").unlink()
    (repo.root / "cases" / "all.yaml").symlink_to(tmp_path / "secret.yaml")
    (repo.root / "rubric.md").unlink()
    (repo.root / "rubric.md").symlink_to("/etc/hostname")
    repo.commit()
    ran = repo.check()
    assert ran.code != 0
    assert (tmp_path / "secret.yaml").read_text() == "cases: []\n"
