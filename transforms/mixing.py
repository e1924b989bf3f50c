"""`mixed/NAMES`: variants whose moves come from several transforms.

NAMES are transforms, families or `all`, joined by `+`. The option `--mixed` makes such a name. The parts of a
variant are applied one after the other, each to the result of those before. So each step is legal by the
reasoning of its own transform, and the evidence of the whole is that of its weakest part.

All parts propose their moves on the original, and a move finds its site again by what stands there
(`BaseTransform.places`). A site that an earlier part changed is left out. Therefore each of the moves means
the same in any subset of them, and `explain` can shrink a variant to its smallest moves.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random
from typing import Final, get_args

from codeaudit.transforms.dependence.relations import EVIDENCE, KINDS, Dependence, related_name
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.interface import (
    NOT_A_MOVE,
    BaseTransform,
    Refused,
    Rewritten,
    Transform,
    is_located,
    is_surrounded,
    uses_relation,
)
from codeaudit.transforms.language import every_language, find_language
from codeaudit.transforms.levels import MacroLevel
from codeaudit.transforms.perturb import part_for, under
from codeaudit.transforms.records import Evidence, Kind, Move, Unit
from codeaudit.transforms.registry import JOINT, MIXED, expand, kind_of, one_way, transform_for
from codeaudit.transforms.renaming import Rename

EMPTY: Final = "nothing to mix"
MOVED: Final = "another edit changed the place"
OTHER_LANGUAGE: Final = "other language"


@lru_cache(maxsize=8)
def load(name: str, language: str = "") -> "Mixed":
    """The transform that a name means in a language; without one, in the first that has any of its parts.

    Raises:
        UsageError: a part does not exist, changes the meaning, or cannot be mixed.
        CannotAudit: a part is a broken plug-in's.
    """
    names = name.partition("/")[2].split(JOINT)
    if not all(names) or any(part.startswith(f"{MIXED}/") for part in names):
        raise UsageError(f"transform {name!r} must be {MIXED}/NAME{JOINT}NAME, with transforms or families")
    for part in expand(names):
        if kind_of(part) in ("control", "identity", "prose"):
            raise UsageError(f"{part!r} cannot be mixed; only transforms that keep the meaning can be")
    every = [record.name for record in every_language()]
    parts: tuple[Transform, ...] = ()
    for spoken in [language] if language else every:
        if parts := _parts(names, spoken):
            return Mixed(name=name, parts=parts, language=spoken, languages=_spoken(names, every))
    # Samples of a language without these transforms are refused with a reason to count.
    expand(names)
    return Mixed(name=name, parts=(), language=language, languages=_spoken(names, every))


def _parts(names: Sequence[str], language: str) -> tuple[Transform, ...]:
    """The transforms of a language that these names stand for."""
    transforms = (transform_for(name, language) for name in expand(names, languages=(language,)))
    parts = [part for part in transforms if not part.languages or language in part.languages]
    for part in parts:
        if not is_located(part) and part.name in names:
            raise UsageError(f"{part.name!r} cannot be mixed: it does not say where it edits")
    return tuple(filter(is_located, parts))


def _spoken(names: Sequence[str], languages: Iterable[str]) -> frozenset[str]:
    # By name: finding out what a transform can do would import the parsers of all languages.
    return frozenset(
        language
        for language in languages
        if set(expand(names, languages=(language,))) & _transforms_of(language)
    )


def _transforms_of(language: str) -> frozenset[str]:
    """The names of the transforms that a language's record lists."""
    record = find_language(language)
    return frozenset(record.transforms) if record is not None else frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed(BaseTransform):
    """Moves of several transforms in one variant."""

    name: str
    parts: tuple[Transform, ...]
    language: str
    """The language of its parts."""
    languages: frozenset[str]
    """The languages in which the name has parts."""
    kind: Kind = "preserving"
    unit: Unit = "module"
    around: str = field(default="", repr=False)
    """The text of the file around the text, as far as it is known."""

    def within(self, text: str) -> "Mixed":
        """The same transform for the texts of this file."""
        return replace(self, around=text)

    def under(self, dependence: Dependence) -> "Mixed":
        """The same transform with its parts under this relation."""
        parts = tuple(under(part, dependence) for part in self.parts)
        return replace(self, name=related_name(self.name, dependence), kind=KINDS[dependence], parts=parts)

    def at_level(self, level: MacroLevel) -> "Mixed":
        """The same transform with its parts at this level."""
        return replace(self, parts=tuple(part.at_level(level) for part in self.parts))

    def by_unit(self) -> tuple["Mixed", ...]:
        """One transform of functions and one of whole texts, for a file whose functions are rewritten one by
        one. A transform without parts is left out.
        """
        units: tuple[Unit, ...] = ("function", "module")
        mixtures = [
            replace(self, unit=unit, parts=tuple(part for part in self.parts if part.unit == unit))
            for unit in units
        ]
        return tuple(mixture for mixture in mixtures if mixture.parts)

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """The moves of all parts that fit together, in the order in which they are made.

        The order of the parts is drawn, but renamings come last. Of transforms that undo one another, one is
        drawn.

        Raises:
            SourceError: the source cannot be parsed.
        """
        if not self.parts:
            return Refused(OTHER_LANGUAGE)
        proposed: dict[str, tuple[Move, ...]] = {}
        reasons: Counter[str] = Counter()
        for part in self.parts:
            proposal = self._proposal(part, source, rng)
            if isinstance(proposal, Refused):
                reasons[proposal.reason] += 1
            else:
                proposed[part.name] = tuple(replace(move, transform=part.name) for move in proposal)
        names = list(one_way(list(proposed), rng.getrandbits(32), languages=[self.language]))
        rng.shuffle(names)
        by_name = {part.name: part for part in self.parts}
        # A renaming changes the text of nearly every other site.
        names.sort(key=lambda name: isinstance(by_name[name], Rename))
        moves: list[Move] = []
        text = source
        for name in names:
            step = self._step(by_name[name], source, text, proposed[name], partly=True)
            if not isinstance(step, Refused) and step[0].source != text:
                text = step[0].source
                moves += step[1]
        if moves:
            return tuple(moves)
        # A reason tells more than that a text holds nothing that a part rewrites (`no …`).
        reason = max(
            reasons, key=lambda reason: (not reason.startswith("no "), reasons[reason], reason), default=EMPTY
        )
        return Refused(reason)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Make the moves, transform by transform. Any subset of a proposal is legal unless its steps are not.

        Raises:
            SourceError: the source cannot be parsed.
        """
        by_name = {part.name: part for part in self.parts}
        together: dict[str, list[Move]] = {}
        for move in moves:
            together.setdefault(move.transform, []).append(move)
        evidences: list[Evidence] = []
        text, broken = source, False
        for name, group in together.items():
            if name not in by_name:
                return Refused(NOT_A_MOVE)
            step = self._step(by_name[name], source, text, group, partly=False)
            if isinstance(step, Refused):
                return step
            text = step[0].source
            evidence = step[0].evidence
            # An order under the relation of the paper is parsed, and breaks the meaning all the same.
            broken = broken or (uses_relation(by_name[name]) and evidence == EVIDENCE["paper"])
            evidences.append(evidence)
        if broken or not evidences:
            return Rewritten(source=text, evidence=EVIDENCE["paper" if broken else "strict"])
        return Rewritten(source=text, evidence=min(evidences, key=get_args(Evidence).index))

    def _proposal(self, part: Transform, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """What one part proposes for the original."""
        context = part_for(part, source, self.language, file=self.around)
        return (
            Refused(context.obstacle) if context.obstacle else self._within(part).propose(context.source, rng)
        )

    def _step(
        self, part: Transform, source: str, text: str, moves: Sequence[Move], *, partly: bool
    ) -> tuple[Rewritten, tuple[Move, ...]] | Refused:
        """The text after the moves of one part, which it proposed for `source`, and those that were made.

        With `partly`, moves whose site is gone are left out; otherwise they are refused.
        """
        now = part_for(part, text, self.language, file=self.around)
        if now.obstacle:
            return Refused(now.obstacle)
        informed = self._within(part)
        if text == source:
            sites: Mapping[int, int] = {move.site: move.site for move in moves}
        else:
            before = part_for(part, source, self.language, file=self.around)
            sites = _again(_places(informed, before.source), _places(informed, now.source))
        kept = tuple(move for move in moves if move.site in sites)
        if not kept or (len(kept) < len(moves) and not partly):
            return Refused(MOVED)
        rewritten = informed.apply(
            now.source, tuple(replace(move, site=sites[move.site], transform="") for move in kept)
        )
        if isinstance(rewritten, Refused):
            return rewritten
        return replace(rewritten, source=now.before + rewritten.source + now.after), kept

    def _within(self, part: Transform) -> Transform:
        """A part with what the file around shows."""
        return part.within(self.around) if self.around and is_surrounded(part) else part


def _places(part: Transform, source: str) -> Mapping[int, str]:
    return part.places(source) if is_located(part) else {}


def _again(before: Mapping[int, str], now: Mapping[int, str]) -> Mapping[int, int]:
    """The sites of the original that a text still has, with their numbers in it.

    The first of several equal sites is taken for the first, and so on; where their number differs they are
    counted as gone.
    """
    if before == now:
        return {site: site for site in before}
    olds, news = _by_content(before), _by_content(now)
    return {
        old: new
        for content, sites in olds.items()
        if len(sites) == len(news.get(content, ()))
        for old, new in zip(sites, news[content], strict=True)
    }


def _by_content(places: Mapping[int, str]) -> dict[str, list[int]]:
    sites: dict[str, list[int]] = {}
    for site in sorted(places):
        sites.setdefault(places[site], []).append(site)
    return sites
