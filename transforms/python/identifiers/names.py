"""New names for variables, by strategy.

A new name keeps the look of the old one, which is part of its view: a private `_x` stays private, a
CONSTANT stays upper case, a ClassLike name stays so.
"""

import builtins
import keyword
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Final, Literal, TypeAlias

Strategy: TypeAlias = Literal["natural", "random", "shuffle", "misleading", "canonical"]
"""`natural`: names that other functions use; `random`: pronounceable, without meaning; `shuffle`: the
function's own names, permuted; `misleading`: names that say something else; `canonical`: v0, v1, …"""

_FREQUENT: Final = """
    account action active actual addr address alias amount anchor answer archive area argument array
    attempt attr average axis base batch begin best block body bottom bound box branch bucket buf buffer
    cache callback candidate category cell center channel char child chunk client cmd code col color column
    command comment config conn connection content context coord copy cost count counter current cursor data
    date day deadline default delay delta depth desc dest device diff digits direction directory distance doc
    document domain edge element email encoding end entry env err error event example exists expected
    expr extension extra factor feature field file filename first flag folder found fraction frame
    group guess handle handler hash_value head header height host idx image index info initial inner
    instance item items job key keys kind label last layer left length level limit line lines
    link location lock log loop low lower margin mask match_obj matrix maximum member message meta middle
    minimum mode model module month msg name names new_value node num number obj offset old_value op
    operator option order origin other outer output owner package page pair parent part parts password path
    pattern payload pieces pixel pointer points pos position prefix previous price process product
    progress project queue rate ratio raw record ref region remaining reply req res resource response rest
    result results ret right root row rows rule sample scale schema score section seen segment selected
    sep sequence server service session shape sign signal size slot source speed stack start
    state status step stop stream string style subject suffix table tag target task temp template text
    thread threshold tick timeout title tmp token tokens top total trace tree unit upper url user val value
    values vector version visited weight width window word words worker wrapper writer zone
"""

NATURAL: Final[tuple[str, ...]] = tuple(_FREQUENT.split())
"""Names of local variables that are frequent in Python code."""

_VERBS: Final = """
    accept adjust advance align append_all apply arrange assign attach balance build calculate check
    choose classify clean collapse collect combine compare compute convert count_up create decide decode
    derive describe detect divide drop_empty emit encode enforce ensure evaluate examine expand extend extract
    fetch fill find_best finish fix flatten follow format_one gather generate get_next group handle_one
    identify inspect_one join_parts load_one locate look_up make mark match_one measure merge move normalize
    notify pack parse pick prepare process_one produce propagate prune pull push_down read_one reduce_all
    refine refresh register remove_all replace_all report reset resolve restore run_once save_one scale_up
    scan search_in select send shift show skip_over solve sort_out split_up start_up step_through store_one
    strip_all swap sync test_one transform translate trim try_one unpack update validate verify visit walk
    warn_once wrap write_one
"""

ACTIONS: Final[tuple[str, ...]] = tuple(_VERBS.split())
"""Names of helper functions that are frequent in Python code."""

_PAIRS: Final = """
    first/last start/end begin/finish left/right top/bottom min/max minimum/maximum low/high lower/upper
    old/new before/after source/target src/dst input/output request/response parent/child head/tail
    row/column width/height key/value name/count names/total text/number line/amount lines/size
    item/items node/edge result/error results/errors path/distance filename/length string/integer
    index/message idx/msg found/missing enabled/disabled true_count/false_count good/bad success/failure
    read/write reader/writer open/closed inner/outer prefix/suffix positive/negative add/remove
    client/server sender/receiver public/private data/schema user/machine date/price time/color
    list_value/scalar args/result_code current/previous expected/actual empty/full x/label y/title
    i/text_line j/word k/sentence n/filename_text s/number_value d/index_list f/ratio_value p/total_count
"""
"""Pairs of names that mean something opposite, or a value of another type."""

_OPPOSITES: Final[Mapping[str, str]] = {
    name: other
    for pair in reversed(_PAIRS.split())
    for name, other in (pair.split("/")[::-1], pair.split("/"))
}

_RESERVED: Final = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))

_PLAIN_TRIES: Final = 30
"""How many names of other functions are tried as they are before numbers are put behind them."""

_WORD_START: Final = re.compile(r"(?:^|_)([a-z0-9])")
_ONSETS: Final = (*"bdfgklmnprstvz", "br", "gr", "st", "tr")
_VOWELS: Final = (*"aeiou", "ai", "ou")


def reserved(name: str) -> bool:
    """Whether no strategy gives this name: keywords, soft keywords and builtins, and names with `__`."""
    return name in _RESERVED or name.startswith("__") or not name.strip("_")


def draw(
    strategy: Strategy,
    names: Mapping[int, str],
    taken: Collection[str],
    rng: Random,
    pool: Sequence[str] = NATURAL,
) -> dict[int, str]:
    """New names for variables, given their old ones by number, all different from each other.

    Args:
        strategy: how to choose; `shuffle` has its own function.
        names: the old names, in source order.
        taken: names that must not be given; only `canonical` gives one of the old names again.
        rng: the only source of chance.
        pool: what `natural` and whatever falls back on it choose from.
    """
    used = set() if strategy == "canonical" else set(names.values())
    fresh: dict[int, str] = {}
    for position, (number, old) in enumerate(names.items()):
        prefix, look = _look(old)
        for proposal in _proposals(strategy, old, position, pool, rng):
            name = prefix + _styled(proposal, look)
            if name not in taken and name not in used and not reserved(name):
                break
        used.add(name)
        fresh[number] = name
    return fresh


def shuffle(names: Mapping[int, str], kept: Iterable[str], rng: Random) -> dict[int, str]:
    """A permutation of the names, applied to every variable that bears one.

    Names only change places with names that look alike (private, constant, class-like, plain), and names
    that are reserved or in `kept` stay where they are. Every name that can change does.
    """
    fixed = set(kept)
    groups: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys(names.values()):
        if name not in fixed and not reserved(name):
            groups.setdefault(_look(name), []).append(name)
    image: dict[str, str] = {}
    for group in groups.values():
        image.update(_derangement(group, rng))
    return {number: image[name] for number, name in names.items() if image.get(name, name) != name}


def _derangement(group: Sequence[str], rng: Random) -> dict[str, str]:
    """A random cyclic order of the names, so that none stays where it was (Sattolo's algorithm)."""
    image = list(group)
    for last in range(len(image) - 1, 0, -1):
        other = rng.randrange(last)
        image[last], image[other] = image[other], image[last]
    return dict(zip(group, image, strict=True))


def _proposals(
    strategy: Strategy, old: str, position: int, pool: Sequence[str], rng: Random
) -> Iterator[str]:
    """Names to try, without end."""
    if strategy == "canonical":
        yield from (f"v{number}" for number in count(position))
    elif strategy == "random":
        yield from (_pronounceable(rng, 2 + rng.randrange(2) + tries // 20) for tries in count())
    elif strategy == "misleading":
        yield from _misleading(old)
    for tries in count():
        name = pool[int(rng.random() * len(pool))]
        yield name if tries < _PLAIN_TRIES else f"{name}{tries}"


def _misleading(old: str) -> list[str]:
    """Names for the opposite of a name: by the whole name, else by one of its words."""
    bare = old.strip("_").lower()
    if bare in _OPPOSITES:
        return [_OPPOSITES[bare]]
    words = bare.split("_")
    return [
        "_".join([*words[:at], _OPPOSITES[word], *words[at + 1 :]])
        for at, word in enumerate(words)
        if word in _OPPOSITES and len(words) > 1
    ]


def _pronounceable(rng: Random, syllables: int) -> str:
    return "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables))


def _look(name: str) -> tuple[str, str]:
    prefix = name[: len(name) - len(name.lstrip("_"))]
    bare = name[len(prefix) :]
    if bare.isupper():
        return prefix, "constant"
    if bare[:1].isupper():
        return prefix, "class"
    return prefix, "plain"


def _styled(name: str, look: str) -> str:
    """A plain name in another look."""
    if look == "constant":
        return name.upper()
    return _WORD_START.sub(lambda match: match[1].upper(), name) if look == "class" else name
