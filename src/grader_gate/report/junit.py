"""JUnit XML, for the many tools that read it: one test suite per suite, one test case per finding and audit."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # writes only; never parses what others wrote

from grader_gate.model import GateVerdict
from grader_gate.report import figures, view
from grader_gate.report.escape import xml
from grader_gate.result import Finding, Result, SuiteResult


def render_junit(result: Result) -> str:
    """The result as JUnit XML.

    ``failure`` is what blocks, ``error`` what could not be measured, ``skipped`` what is only reported. In a run that
    blocks, a verdict of ``fail`` or ``error`` always leaves at least one failure or error, so that no reader takes it
    for green. In report mode nothing fails.
    """
    root = ET.Element("testsuites", {"name": "grader-gate"})
    for suite in view.suites_by_weight(result):
        root.append(_suite(suite, result.quote != "none", result.mode == "block"))
    root.append(_gate(result))
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(child.get(key, "0")) for child in root)))
    root.set("time", f"{result.cost.seconds:.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(suite: SuiteResult, quote: bool, blocks: bool) -> ET.Element:
    element = ET.Element("testsuite", {"name": xml(suite.name)})
    for row in suite.audits:
        case = _case(element, suite.name, figures.AUDIT_WORDS[row.audit])
        graded = figures.graded_words(row.head) or "not graded"
        said = f"{figures.rate_words(row.head)}; {graded}; {figures.audit_change(row)}"
        if row.head is not None and row.head.value is None:
            ET.SubElement(
                case, "error" if blocks else "skipped", {"message": "not measured", "type": "unmeasured"}
            ).text = xml(said)
        else:
            ET.SubElement(case, "system-out").text = xml(said)
    for finding in suite.findings:
        name = " ".join(figures.distinct((finding.kind.value, finding.case or "", finding.mutator or "")))
        case = _case(element, suite.name, name)
        if finding.location is not None:
            case.set("file", xml(finding.location.path))
            if finding.location.line is not None:
                case.set("line", str(finding.location.line))
        _outcome(case, finding, quote, blocks)
    return _counted(element)


def _gate(result: Result) -> ET.Element:
    """The gate's own cases: goalposts and the verdict."""
    element = ET.Element("testsuite", {"name": "gate"})
    for goalpost in result.goalposts:
        case = _case(element, "gate", f"goalpost {goalpost.what}")
        if not goalpost.accepted:
            tag = "failure" if result.mode == "block" else "skipped"
            ET.SubElement(case, tag, {"message": xml(goalpost.what), "type": "goalpost"}).text = xml(goalpost.detail)
    verdict = _case(element, "gate", "verdict")
    said = {"message": xml(result.headline), "type": result.verdict.value}
    if result.verdict is GateVerdict.NOT_APPLICABLE:
        ET.SubElement(verdict, "skipped", said)
    elif result.mode == "report" and result.verdict is not GateVerdict.PASS:
        ET.SubElement(verdict, "skipped", {**said, "message": xml(f"{view.REPORT_MODE} {result.headline}")})
    elif result.verdict is GateVerdict.FAIL:
        ET.SubElement(verdict, "failure", said)
    elif result.verdict is GateVerdict.ERROR:
        ET.SubElement(verdict, "error", said)
    return _counted(element)


def _case(suite: ET.Element, classname: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", {"classname": xml(classname), "name": xml(name, 300)})


def _outcome(case: ET.Element, finding: Finding, quote: bool, blocks: bool) -> None:
    said = {"message": xml(finding.sentence), "type": finding.kind.value}
    tag = "failure" if finding.blocking else "error" if view.group_of(finding) == "errors" else "skipped"
    if not blocks:
        tag = "skipped"
    lines = figures.evidence_words(finding)
    if quote and finding.reason:
        lines.append(f"reason: {finding.reason}")
    if finding.suggestion:
        lines.append(f"next: {finding.suggestion}")
    ET.SubElement(case, tag, said).text = xml("\n".join(lines)) or None


def _counted(element: ET.Element) -> ET.Element:
    element.set("tests", str(len(element)))
    for tag, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(key, str(len(element.findall(f"testcase/{tag}"))))
    return element
