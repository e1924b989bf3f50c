"""The model that CI audits: put yours into `predict`."""

import re

CALLED = re.compile(r"([a-z_]+)\(")


def predict(queries):
    """One answer per query, in their order: here the first two names that the code calls, by the alphabet."""
    return ["_".join(sorted(set(CALLED.findall(query.source)))[:2]) or "run" for query in queries]
