"""What attacks may take from a grader's own prompt, read from a tree."""

from __future__ import annotations

from grader_gate.config import ChatGrader, CommandGrader, GraderConfig, HttpGrader, Output, PythonGrader
from grader_gate.graders.pairwise import reply_output
from grader_gate.graders.promptfacts import best_reply, delimiters
from grader_gate.model import Tree
from grader_gate.suite.mutators.api import MutationContext


def mutation_context(tree: Tree, config: GraderConfig) -> MutationContext:
    """Facts of a grader for the mutators; empty where the grader has no prompt."""
    rubric = None
    if config.rubric is not None and tree.exists(config.rubric):
        rubric = tree.read(config.rubric).decode("utf-8", "replace")
    if not isinstance(config, ChatGrader):
        return MutationContext(
            verdict_reply=_code_reply(config),
            rubric=rubric,
            has_reference="reference" in config.contract.inputs,
        )
    top = _top(config)
    return MutationContext(
        delimiters=delimiters(_templates(tree, config)),
        verdict_reply=best_reply(reply_output(config.contract, config.output, "judge"), top),
        rubric=rubric,
        has_reference="reference" in config.contract.inputs,
    )


def _top(config: GraderConfig) -> float | None:
    scale = config.contract.scale
    return None if scale is None else scale.max if scale.higher_is_better else scale.min


def _code_reply(config: GraderConfig) -> str | None:
    """The best value that code may return; it often wraps a model that is asked for these very fields."""
    if not isinstance(config, PythonGrader | CommandGrader | HttpGrader):
        return None
    top = _top(config)
    return best_reply(Output(score=None if top is None else "score"), top)


def _templates(tree: Tree, config: ChatGrader) -> list[str]:
    if isinstance(config.prompt, str):
        paths, texts = [config.prompt], []
    else:
        paths = [m.file for m in config.prompt if m.file is not None]
        texts = [m.text for m in config.prompt if m.text is not None]
    return texts + [tree.read(path).decode("utf-8", "replace") for path in paths if tree.exists(path)]
