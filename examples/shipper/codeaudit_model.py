"""The model that CI audits: put yours into `predict`."""

import re

CALLED = re.compile(r"([a-z_]+)\(")
VARIABLE = re.compile(r"^ +(\w+) = ", re.MULTILINE)


def predict(queries):
    """One answer per query, in their order."""
    return [name(query.source) for query in queries]


def name(source):
    """One of the names that the code calls, by the number of its variables. Put your model here."""
    called = sorted(set(CALLED.findall(source))) or ["run"]
    return called[len(set(VARIABLE.findall(source))) % len(called)]
