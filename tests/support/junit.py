"""What readers of JUnit XML accept, as tables: the schemas of Jenkins (`junit-10.xsd`) and of Ant's JUnit task.

Both are told by what they require and allow; a report has to satisfy both at once.
"""

import re
from xml.etree import ElementTree as Xml

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
COUNTS = ("tests", "failures", "errors", "skipped")

REQUIRED = {
    "testsuites": set(),
    "testsuite": {"name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "time"},
    "testcase": {"name", "classname", "time"},
    "failure": {"type"},
    "error": {"type"},
    "skipped": set(),
    "properties": set(),
    "property": {"name", "value"},
    "system-out": set(),
    "system-err": set(),
}
OPTIONAL = {
    "testsuite": {"skipped"},
    "failure": {"message"},
    "error": {"message"},
    "skipped": {"message", "type"},
}
CHILDREN = {
    "testsuites": r"(testsuite )*",
    "testsuite": r"properties (testcase )*system-out system-err ",
    "testcase": r"(skipped |error |failure )?",
    "properties": r"(property )*",
}


def check_junit(text: str) -> Xml.Element:
    """The parsed report.

    Raises:
        AssertionError: one of the schemas would refuse it, or its counts are not those of its cases.
    """
    root = Xml.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        given = set(element.attrib)
        assert REQUIRED[element.tag] <= given, (element.tag, given)
        assert given <= REQUIRED[element.tag] | OPTIONAL.get(element.tag, set()), (element.tag, given)
        children = "".join(f"{child.tag} " for child in element)
        assert re.fullmatch(CHILDREN.get(element.tag, ""), children), (element.tag, children)
        assert not (element.tag in CHILDREN and (element.text or "").strip()), "text between elements"
    for number, suite in enumerate(root):
        assert suite.get("id") == str(number)
        assert suite.get("name")
        assert TIME.fullmatch(suite.get("timestamp") or "")
        cases = suite.findall("testcase")
        tags = {"failures": "failure", "errors": "error", "skipped": "skipped"}
        counts = {key: sum(case.find(tag) is not None for case in cases) for key, tag in tags.items()}
        assert {key: int(suite.get(key) or 0) for key in COUNTS} == {"tests": len(cases), **counts}
        names = [(case.get("classname"), case.get("name")) for case in cases]
        assert len(set(names)) == len(names), "a reader would merge cases of one name"
    return root
