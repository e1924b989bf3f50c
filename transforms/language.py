"""The record of a language: all that the program knows about it, in one place.

Each language has one instance in its own package, and `languages.py` registers it; a plug-in registers its
own through the entry points `codeaudit.languages`. Nothing else in the program lists languages: a task, a
corpus or a paper's features ask the record whether a language offers what they need.

A field that ends the sentence "..., as `module:attribute`" is imported when first used, because a reader or a
network's features are heavy, and because some of them stand in packages that this one may not import. An
empty target says that the language does not offer this.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeaudit.transforms.entries import TransformEntry, TransformFamily


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What there is to know of one language."""

    name: str
    """As in samples, records and on the command line: `python`."""
    title: str
    """For people and in prompts: `Python`."""
    units: str
    """What samples of it are called, in the plural: `functions`."""
    fence: str = ""
    """The tag of a code fence in Markdown, and so in prompts."""
    example: str = ""
    """One unit, for tracing a network that reads the language."""

    # ── transforms ──
    families: tuple[TransformFamily, ...] = ()
    """Its transforms. A name may be that of another language's transform; it then means the same idea."""
    standard: tuple[str, ...] = ()
    """Names of the meaning-keeping transforms of a default run."""
    controls: tuple[str, ...] = ()
    """Names of the controls of a default run."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """Transforms with an argument, `FORM/ARGUMENT` on the command line: functions from the whole name to a
    transform by their form, as `module:attribute`."""

    # ── texts ──
    function_context: str = ""
    """`str -> FunctionContext`, as `module:attribute`: finds the one function of a text. Empty for a language
    whose units hold nothing but themselves."""
    parse: str = ""
    """`str -> object`, as `module:attribute`: raises SourceError where a text does not parse."""
    unit_name: str = ""
    """`str -> str | None`, as `module:attribute`: the name of the one function in a text."""
    content: str = ""
    """`str -> str`, as `module:attribute`: equal for texts that differ only in layout, comments and
    documentation. Without it, texts that differ only in white space count as equal."""
    canonical: str = ""
    """`str -> str`, as `module:attribute`: the canonical form of a unit."""

    # ── files ──
    endings: tuple[str, ...] = ()
    """Of its source files, with the dot. Files in folders are found by them."""
    named_endings: tuple[str, ...] = ()
    """Further endings of files that are read only where the user names the file."""
    column: str = ""
    """The column of a table whose texts are in this language, whatever else the row says."""
    machine_code: str = ""
    """`str -> unit`, as `module:attribute`: a unit from its bytes in hexadecimal digits; its
    text is `unit.source`."""
    reader: str = ""
    """`(text, path, left_out) -> Iterator[Sample]`, as `module:attribute`: the units of a file; `left_out`
    counts those that are no samples, by reason."""
    files: str = ""
    """A `FileFormat`, as `module:attribute`: lets files be perturbed in place."""
    probes: str = ""
    """A `Probes` of `codeaudit.audit.projects`, as `module:attribute`: lets `verify` see what tests
    execute."""

    # ── evidence ──
    witness: str = ""
    """`Labels -> Witness` of `codeaudit.audit.evidence_check`, as `module:attribute`: runs or measures
    variants."""

    # ── networks ──
    lines: str = ""
    """`str -> Program` of `codeaudit.audit.papers.lines`, as `module:attribute`: a function as lines with
    dependences."""
    operators: str = ""
    """A regular expression of operators of several characters that Python does not have, ending with `|`."""
    referents: str = ""
    """`str -> Marked` of `codeaudit.audit.papers.lines`, as `module:attribute`: a function whose variables
    can be told apart by number."""
    nodes: str = ""
    """`str -> nodes` of `codeaudit.audit.papers.tree_transformer`, as `module:attribute`: a function's syntax
    tree."""

    transforms: Mapping[str, TransformEntry] = field(init=False, repr=False, compare=False)
    """Its transforms by name, family by family."""

    def __post_init__(self) -> None:
        """Join the families.

        Raises:
            ValueError: two families hold the same name.
        """
        found: dict[str, TransformEntry] = {}
        for family in self.families:
            if twice := found.keys() & family.transforms.keys():
                raise ValueError(f"registered twice for {self.title}: {', '.join(sorted(twice))}")
            found.update(family.transforms)
        object.__setattr__(self, "transforms", found)
