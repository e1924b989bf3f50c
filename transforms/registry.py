"""The transforms by name. Looking one up imports its module; listing imports none.

Several languages may have a transform of one name: `transform_for("rename", language)` looks in one of them,
`TRANSFORMS.get("rename")` takes the first language that has the name.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from codeaudit.transforms.assumptions import Assumption
from codeaudit.transforms.dependence.relations import DEPENDENCES, Dependence, related_name, speaks
from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.interface import BaseTransform, Transform, uses_relation
from codeaudit.transforms.language import (
    LANGUAGES,
    Language,
    TransformEntry,
    TransformFamily,
    every_language,
    find_language,
    warn_of_broken_languages,
)
from codeaudit.transforms.levels import MACRO_LEVELS, MacroLevel, in_level, level_name
from codeaudit.transforms.records import Kind, Perturbed
from codeaudit.transforms.registration import Entry, Registry, adapted, first_line, load_target, unknown
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.suites import NOT_MEANT, SUITE, SUITES, Original, published

ALL: Final = "all"
"""The name for every transform that keeps the meaning and the interface without a further assumption."""

MIXED: Final = "mixed"
"""The form `mixed/NAME+NAME`: the moves of several transforms in one variant."""

JOINT: Final = "+"
"""Between the names of a mixture."""

_MIXED: Final = "codeaudit.transforms.mixing:load"
_LEVELLED: Final = f"{__name__}:transform_at_level"
_RELATED: Final = f"{__name__}:transform_under_relation"

PLUG_INS: Final = "plug-ins"
"""The family of transforms that no language's record lists."""

_IDENTITY: Final = TransformEntry(
    "codeaudit.transforms.interface:IDENTITY",
    "the unchanged input again: the model's own noise",
    family="identity",
    kind="identity",
)

NETWORK: Final = "network"
"""The family of transforms that change the model and not the text."""

_INTERFACE: Final = "codeaudit.transforms.interface"

OF_NETWORKS: Final[Mapping[str, TransformEntry]] = {
    "columns": TransformEntry(
        f"{_INTERFACE}:COLUMNS",
        "the hidden columns of the model's weights permuted",
        family=NETWORK,
        kind="network",
        twin="columns-broken",
    ),
    "columns-broken": TransformEntry(
        f"{_INTERFACE}:COLUMNS_BROKEN",
        "each permutation in one weight only",
        family=NETWORK,
        kind="network-control",
    ),
    "rows": TransformEntry(
        f"{_INTERFACE}:ROWS",
        "the tokens permuted between the first block and the last",
        family=NETWORK,
        kind="network",
        twin="rows-broken",
    ),
    "rows-broken": TransformEntry(
        f"{_INTERFACE}:ROWS_BROKEN",
        "the tokens permuted and not put back",
        family=NETWORK,
        kind="network-control",
    ),
}
"""They keep the text. `--wrap` adds them to a run; `--transform` takes none of them."""

OTHER_SIDE: Final = "other-side"
SWAP_SIDES: Final = "swap-sides"
OF_SAMPLES: Final[Mapping[str, TransformEntry]] = {
    **OF_NETWORKS,
    OTHER_SIDE: TransformEntry(
        f"{_INTERFACE}:OTHER_SIDE",
        "the other side of a fix, as the corpus has it",
        family="fix",
        kind="control",
    ),
    SWAP_SIDES: TransformEntry(
        f"{_INTERFACE}:SWAP_SIDES",
        "the two units of a pair in the other order",
        family="pair",
        kind="swap",
    ),
}
"""What is no rewriting of a text. Runs add them where they fit; `--transform` takes none of them."""

_BUILT_IN: Final = tuple(map(LANGUAGES.get, LANGUAGES.built_in))


def _first_of_each(languages: Iterable[Language]) -> dict[str, TransformEntry]:
    """Every name with its row in the first language that has it."""
    entries: dict[str, TransformEntry] = {}
    for language in languages:
        for name, entry in language.transforms.items():
            entries.setdefault(name, entry)
    return entries


ENTRIES: Final[Mapping[str, TransformEntry]] = {"identity": _IDENTITY, **_first_of_each(_BUILT_IN)}
"""Every built-in name with its row in the first language that has it."""


def _of_plug_in_languages() -> dict[str, Entry]:
    if not LANGUAGES.plug_ins():
        return {}
    added = (language for language in every_language() if language.name not in LANGUAGES.built_in)
    rows = _first_of_each(added)
    return {name: entry for name, entry in rows.items() if name not in ENTRIES}


TRANSFORMS: Final[Registry[Transform]] = Registry(
    "transform",
    ENTRIES,
    group="codeaudit.transforms",
    expects=Transform,
    base=BaseTransform,
    project=True,
    forms={
        MIXED: _MIXED,
        **dict.fromkeys(DEPENDENCES[1:], _RELATED),
        **dict.fromkeys(MACRO_LEVELS[1:], _LEVELLED),
        **{form: target for language in _BUILT_IN for form, target in language.forms.items()},
    },
    late=_of_plug_in_languages,
)


def transform_for(name: str, language: str) -> Transform:
    """The transform that a name means in a language. Where that language has no such transform, it is another
    language's, which refuses the samples with a reason to count.

    Raises:
        UsageError: no such name in any language; the message holds the nearest one.
        CannotAudit: a plug-in is broken, or `py/MODULE:OBJECT` cannot be loaded.
    """
    # The language first: `rename` of Python and `rename` of Java are two transforms of one name.
    record = find_language(language)
    entry = OF_SAMPLES.get(name) or (record.transforms.get(name) if record is not None else None)
    if entry is not None:
        transform: Transform = adapted(load_target(entry.target), BaseTransform)
        return transform
    if in_level(name)[0] != "known":
        return transform_at_level(name, language)
    if name.startswith(f"{MIXED}/"):  # its parts are those of the language
        mixed: Transform = load_target(_MIXED)(name, language)
        return mixed
    if in_relation(name)[0] != "strict":
        return transform_under_relation(name, language)
    return TRANSFORMS.get(name)


def transform_at_level(name: str, language: str = "") -> Transform:
    """The transform that a name such as `unknown/rename` means in a language.

    Raises:
        UsageError: the transform does not exist.
        CannotAudit: it is a broken plug-in's.
    """
    level, plain = in_level(name)
    transform = transform_for(plain, language) if language else TRANSFORMS.get(plain)
    named: Transform = replace(cast("Any", transform.at_level(level)), name=level_name(transform.name, level))
    return named


def transform_under_relation(name: str, language: str = "") -> Transform:
    """The transform that a name such as `paper/reorder` means in a language. Where the language has none that
    depends on a relation, it is another language's, which refuses every sample.

    Raises:
        UsageError: the transform does not exist, or depends on no relation.
        CannotAudit: it is a broken plug-in's.
    """
    dependence, plain = in_relation(name)
    for spoken in (language, *(record.name for record in every_language())):
        if speaks(dependence, spoken):
            transform = transform_for(plain, spoken)
            if uses_relation(transform):
                return transform.under(dependence)
    raise UsageError(f"transform {plain!r} depends on no relation; there is no {name!r}")


def mixed_name(names: Iterable[str]) -> str:
    """The name of the transform that mixes these transforms and families."""
    return f"{MIXED}/{JOINT.join(names)}"


def in_relation(name: str) -> tuple[Dependence, str]:
    """The relation in a name such as `paper/reorder`, and the rest of it, without a level of macros."""
    name = in_level(name)[1]
    for dependence in DEPENDENCES[1:]:
        if name.startswith(f"{dependence}/"):
            return dependence, name.partition("/")[2]
    return "strict", name


def levelled(names: Iterable[str], level: MacroLevel) -> tuple[str, ...]:
    """These transforms under a level of what is assumed of macros, where a language with macros has them.
    Controls keep no meaning that could rest on something.

    Raises:
        UsageError: none of them is a transform of such a language, and this is not the first level.
        CannotAudit: a plug-in is broken, or `py/MODULE:OBJECT` cannot be loaded.
    """
    names = tuple(names)
    spoken = {language.name for language in every_language() if language.has_macros}
    chosen = tuple(
        level_name(name, level)
        if spoken.intersection(languages_of(name)) and entry_of(name).kind not in ("control", "identity")
        else name
        for name in names
    )
    if level != "known" and not any(in_level(name)[0] == level for name in chosen):
        raise UsageError(f"--macros {level} has no effect on {', '.join(names)}, which rewrite no C")
    return chosen


def of_network(wrap: str | None) -> tuple[str, ...]:
    """The transforms that `--wrap` adds to a run: none, or one of the network and its control."""
    entry = OF_NETWORKS.get(wrap or "")
    return () if wrap is None or entry is None or entry.twin is None else (wrap, entry.twin)


def related(names: Iterable[str], dependence: Dependence) -> tuple[str, ...]:
    """These transforms, under a relation where they depend on one.

    Raises:
        UsageError: none of them depends on a relation, and this is not the strict one.
        CannotAudit: a plug-in is broken, or `py/MODULE:OBJECT` cannot be loaded.
    """
    names = tuple(names)
    chosen = tuple(related_name(name, dependence) if _depends(name) else name for name in names)
    if dependence != "strict" and not any(in_relation(name)[0] == dependence for name in chosen):
        raise UsageError(
            f"--dependence {dependence} has no effect on {', '.join(names)}; add --transform reorder"
        )
    return chosen


def _depends(name: str) -> bool:
    if in_relation(name)[0] != "strict":
        return False
    return name.startswith(f"{MIXED}/") or entry_of(name).related


def is_related(name: str) -> bool:
    """Whether what a transform does depends on a relation; false for one that is not installed here, as a
    suite may name it."""
    try:
        return entry_of(name).related
    except (UsageError, CannotAudit):
        return False


def entry_of(name: str, language: str = "") -> TransformEntry:
    """The row of a name, in a language if that has it. For transforms that no language lists the row is made
    from the transform itself.

    Raises:
        UsageError: no such name; the message holds the nearest one.
        CannotAudit: a plug-in is broken, or `py/MODULE:OBJECT` cannot be loaded.
    """
    if name in OF_SAMPLES:
        return OF_SAMPLES[name]
    record = find_language(language)
    entry = (record.transforms.get(name) if record is not None else None) or TRANSFORMS.entry(name)
    if isinstance(entry, TransformEntry):
        return entry
    transform = TRANSFORMS.get(name)
    family = MIXED if name.startswith(f"{MIXED}/") else PLUG_INS
    return TransformEntry("", first_line(transform), family=family, kind=transform.kind)


def languages_of(name: str) -> tuple[str, ...]:
    """The languages with a transform of this name; empty for the identity, which is for all."""
    if name in OF_SAMPLES:
        return ()
    dependence, plain = in_relation(name)
    languages = tuple(
        language.name
        for language in every_language()
        if (entry := language.transforms.get(plain))
        and (dependence == "strict" or (entry.related and speaks(dependence, language.name)))
    )
    return languages or tuple(sorted(TRANSFORMS.get(name).languages))


def families(languages: Collection[str] = ()) -> tuple[TransformFamily, ...]:
    """The families of these languages, or of all, in the order of registration."""
    return tuple(
        family
        for language in every_language()
        if not languages or language.name in languages
        for family in language.families
    )


def counterparts(original: Original, languages: Collection[str] = ()) -> tuple[str, ...]:
    """Our transforms for one of a published suite, those that any of these languages has, or any at all."""
    return tuple(
        name
        for name in original.ours
        if any(not languages or language in languages for language in meant(name))
    )


def meant(name: str) -> tuple[str, ...]:
    """The languages in which a published suite may mean this transform."""
    return tuple(
        record.name
        for record in every_language()
        if name in record.transforms and record.name not in NOT_MEANT
    )


def left_out(name: str, languages: Collection[str] = ()) -> tuple[str, ...]:
    """The originals of a published suite that have no counterpart in these languages.

    Raises:
        UsageError: there is no such suite; the message holds the nearest one.
    """
    return tuple(
        original.name for original in published(name).originals if not counterparts(original, languages)
    )


def expand(
    names: Iterable[str], *, interface: bool = True, languages: Collection[str] = ()
) -> tuple[str, ...]:
    """Names of transforms. A family's name is replaced by its meaning-keeping members, a published suite's by
    our counterparts.

    Where languages are given, a family (and `all`, and a suite) stands for its members in these. Without
    `interface` it leaves out the members that change what callers can see: parameters, docstrings,
    annotations.

    Raises:
        UsageError: no such transform, family or suite; the message holds the nearest one.
        CannotAudit: a plug-in is broken, or `py/MODULE:OBJECT` cannot be loaded.
    """
    # A family that the given languages lack is still a name, which then stands for nothing.
    known = {family.name for family in families()}
    expanded: list[str] = []
    for name in names:
        if name in ENTRIES:  # a transform comes before a family of the same name
            expanded.append(name)
        elif name == ALL or name in known:
            expanded += [
                member
                for family in families(languages)
                if name in (ALL, family.name)
                for member, entry in family.transforms.items()
                if entry.kind in ("preserving", "prose")
                and not (entry.interface and (name == ALL or not interface))
                and not (entry.assumes and name == ALL)
            ]
        elif name.startswith(f"{SUITE}/"):
            expanded += (
                member
                for original in published(name).originals
                for member in counterparts(original, languages)
                if interface or not entry_of(member).interface
            )
        elif name in TRANSFORMS:
            TRANSFORMS.get(name)  # a broken plug-in ends the command before anything is perturbed
            expanded.append(name)
        elif name == OTHER_SIDE:
            raise UsageError(f"{name!r} rewrites no code: a task of fixes takes it as its control by itself")
        elif name == SWAP_SIDES:
            raise UsageError(f"{name!r} rewrites no code: a task about pairs adds it by itself")
        elif name in OF_NETWORKS:
            raise UsageError(
                f"{name!r} changes the model and not the code; write --wrap {name.partition('-')[0]}"
            )
        else:
            warn_of_broken_languages()
            suites = [f"{SUITE}/{suite}" for suite in SUITES]
            everything = [*TRANSFORMS, *sorted(known), ALL, *suites]
            near = [suite for suite in suites if suite.endswith(f"/{name}")]  # `averloc` for `suite/averloc`
            if near:
                raise UsageError(f"unknown transform {name!r}; did you mean {near[0]!r}?")
            raise UsageError(unknown("transform", name, everything))
    # Two languages may share a name, and each name is run once.
    return tuple(dict.fromkeys(expanded))


def one_way(
    names: Collection[str], seed: int, *, languages: Collection[str], given: Collection[str] = ()
) -> tuple[str, ...]:
    """These transforms without those that undo another of them, in the same order.

    Applied one after the other, a transform and its inverse leave nothing to test. So one side of each such
    pair is drawn, and one of several that rewrite the same places, such as the renamings. A draw depends only
    on the seed and the names of the pair. The names in `given` always stay: somebody asked for them.
    """
    opposed: dict[str, frozenset[str]] = {}
    for language in map(find_language, languages):
        for name, others in language.opposed.items() if language is not None else ():
            opposed[name] = opposed.get(name, frozenset()) | others
    drawn = {name for name in names if name in given}
    for name in sorted(names, key=lambda name: stream(seed, "one way", name).random()):
        if not opposed.get(name, frozenset()) & drawn:
            drawn.add(name)
    return tuple(name for name in names if name in drawn)


def rests_on(edit: Perturbed) -> tuple[Assumption, ...]:
    """What an edit that keeps the meaning assumes of code that it cannot see, in the order of the ledger.

    A mixed variant rests on what its moves rest on. Nothing is known of a transform that no language lists,
    and an edit of another kind keeps no meaning that could rest on something.
    """
    language = find_language(edit.sample.language)
    if language is None or edit.kind != "preserving":
        return ()
    if edit.rests_on is not None:
        return tuple(row for id, row in language.ledger.items() if id in edit.rests_on)
    names = {in_relation(move.transform or edit.transform)[1] for move in edit.moves}
    entries = [entry for name in names if (entry := language.transforms.get(name))]
    named = {id for entry in entries for id in entry.rests_on}
    return tuple(
        row
        for id, row in language.ledger.items()
        if id in named
        and (edit.evidence != "compiled" or row.of_text or (row.of_headers and not edit.sample.context))
        and edit.evidence not in row.settled_by
    )


def kind_of(name: str) -> Kind | None:
    """The kind of a transform; `None` for one that is not installed here, as records may name it."""
    try:
        return entry_of(name).kind
    except (UsageError, CannotAudit):
        return None
