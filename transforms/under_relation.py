"""`returning/NAME` and `paper/NAME`: a transform under another dependence relation than the strict one.

The option `--dependence` makes such names. So every suite, table and gate tells the relations apart, and no
comparison pairs one with another.
"""

from codeaudit.transforms.dependence.relations import speaks
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.interface import Transform, uses_relation
from codeaudit.transforms.language import every_language
from codeaudit.transforms.registry import in_relation, transform_for


def load(name: str, language: str = "") -> Transform:
    """The transform that a name means in a language. Where the language has none that depends on a relation,
    it is another language's, which refuses every sample.

    Raises:
        UsageError: the transform does not exist, or depends on no relation.
        CannotAudit: it is a broken plug-in's.
    """
    dependence, plain = in_relation(name)
    for spoken in (language, *(one.name for one in every_language())):
        if not speaks(dependence, spoken):
            continue
        found = transform_for(plain, spoken)
        if uses_relation(found):
            return found.under(dependence)
    raise UsageError(f"transform {plain!r} depends on no relation; there is no {name!r}")
