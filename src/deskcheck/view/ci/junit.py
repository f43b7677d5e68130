"""The report of a check of notebooks as JUnit XML, which CI systems show.

A suite is a notebook, and a case is a cell. Only elements that all readers of the format know are written.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Set

from deskcheck.notebook.check.check import Report
from deskcheck.view.ci.cases import Case, CaseOutcome, cases

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {
    CaseOutcome.FAILED: "failure",
    CaseOutcome.ERROR: "error",
    CaseOutcome.SKIPPED: "skipped",
    CaseOutcome.ACCEPTED: "skipped",
}


def junit_xml(report: Report, failing: Set[str]) -> str:
    """The document. Characters that are not allowed in XML 1.0 are written in Python's notation.

    failing: statuses that are not accepted.
    """
    top = ET.Element("testsuites", name="deskcheck notebooks check")
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    seconds = 0.0
    for notebook in report.notebooks:
        notebook_cases = cases(notebook, failing)
        counts = {
            "tests": len(notebook_cases),
            "failures": sum(case.outcome is CaseOutcome.FAILED for case in notebook_cases),
            "errors": sum(case.outcome is CaseOutcome.ERROR for case in notebook_cases),
            "skipped": sum(_ELEMENTS.get(case.outcome) == "skipped" for case in notebook_cases),
        }
        totals = {name: totals[name] + count for name, count in counts.items()}
        seconds += notebook.seconds
        suite = ET.SubElement(top, "testsuite", _attributes(_text(notebook.path), counts, notebook.seconds))
        for case in notebook_cases:
            _add(suite, case, _text(notebook.path))
    top.attrib |= _attributes(top.attrib["name"], totals, seconds)
    ET.indent(top)
    return ET.tostring(top, encoding="unicode", xml_declaration=False) + "\n"


def _attributes(name: str, counts: dict[str, int], seconds: float) -> dict[str, str]:
    return {"name": name, **{key: str(count) for key, count in counts.items()}, "time": f"{seconds:.3f}"}


def _add(suite: ET.Element, case: Case, path: str) -> None:
    element = ET.SubElement(
        suite, "testcase", {"classname": path, "name": case.name, "time": f"{case.seconds:.3f}"}
    )
    if case.note is not None:
        properties = ET.SubElement(element, "properties")
        ET.SubElement(properties, "property", name="deskcheck_note", value=_text(case.note))
    if case.outcome in _ELEMENTS:
        attributes = {"message": _text(case.message)}
        if case.outcome is not CaseOutcome.SKIPPED:
            attributes["type"] = case.status
        ET.SubElement(element, _ELEMENTS[case.outcome], attributes).text = _text(case.text())


def _text(text: str) -> str:
    return _NOT_IN_XML.sub(lambda match: ascii(match[0])[1:-1], text)
