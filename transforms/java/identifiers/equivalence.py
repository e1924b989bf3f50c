"""Proof that two texts are the same method up to the names of its variables (alpha-equivalence).

Both texts are parsed and resolved separately. The proof compares:

- the bytes between the names: they have to be equal;
- the shapes of the syntax trees: a difference shows that Java reads the text in another way;
- the variable of each occurrence: a difference shows a captured name.

Java also forbids two variables of one name if one is known in the block of the other. `clashes` finds those.
"""

from collections.abc import Iterable, Mapping

from codeaudit.transforms.java.analysis.scopes import JavaBinding, JavaScopes


def renamed(before: JavaScopes, after: JavaScopes, names: Mapping[int, str]) -> bool:
    """Whether `after` is `before` with exactly these variables renamed and all others as they were."""
    if before.slots != after.slots or len(before.bindings) != len(after.bindings):
        return False
    if before.reading.shape != after.reading.shape:
        return False
    for old, new in zip(before.bindings, after.bindings, strict=True):
        if new.name != names.get(old.number, old.name) or (old.view, old.owner) != (new.view, new.owner):
            return False
        if new.doubt != old.doubt:
            return False
    return _gaps(before) == _gaps(after) and not clashes(before.bindings, names)


def clashes(bindings: Iterable[JavaBinding], names: Mapping[int, str]) -> bool:
    """Whether with these names two variables of different old names get one name in one block.

    A variable is assumed to be known from its declaration to the end of the block around it, and in the
    classes in between. This range is never too short, so a clash is never missed.
    """
    groups: dict[tuple[str, bool], list[JavaBinding]] = {}
    given: set[tuple[str, bool]] = set()
    for binding in bindings:
        if binding.view in ("outer", "field"):
            continue
        name = names.get(binding.number)
        key = (name or binding.name, binding.view == "label")
        if name is not None:
            given.add(key)
        groups.setdefault(key, []).append(binding)
    return any(_meet(groups[key]) for key in given)


def _meet(group: list[JavaBinding]) -> bool:
    """Whether two variables of the group that have different old names have overlapping ranges."""
    for place, one in enumerate(group):
        for other in group[place + 1 :]:
            first, second = (one, other) if one.start <= other.start else (other, one)
            if one.name != other.name and second.start < first.until:
                return True
    return False


def _gaps(scopes: JavaScopes) -> list[bytes]:
    """The text between all names of variables."""
    source = scopes.reading.source
    gaps: list[bytes] = []
    done = 0
    for start, end in sorted(scopes.spans):
        gaps.append(source[done:start])
        done = end
    gaps.append(source[done:])
    return gaps
