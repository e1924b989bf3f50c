"""New names for Python's variables and functions, by strategy (`codeaudit.transforms.naming`)."""

import builtins
import keyword
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Final

from codeaudit.transforms import naming
from codeaudit.transforms.naming import Lexicon, Strategy
from codeaudit.transforms.python.identifiers.obstacles import mangled

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

_RESERVED: Final = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))


def reserved(name: str) -> bool:
    """Whether no strategy may give this name: keywords, soft keywords and builtins, names that begin with
    `__`, and `_`.
    """
    return name in _RESERVED or name.startswith("__") or not name.strip("_")


def usable(name: str, own: Collection[str]) -> bool:
    """Whether a name can be given: no keyword, no `__`, and the name of a builtin only if it is in `own`."""
    if keyword.iskeyword(name) or keyword.issoftkeyword(name) or mangled(name):
        return False
    return name.isascii() and name.isidentifier() and (name in own or not reserved(name))


PYTHON: Final = Lexicon(NATURAL, reserved)
"""How the names of Python's variables look."""


def draw(
    strategy: Strategy,
    names: Mapping[int, str],
    taken: Collection[str],
    rng: Random,
    pool: Sequence[str] = NATURAL,
) -> dict[int, str]:
    """New names for variables, given their old names by number; all different from each other and from
    `taken`.
    """
    return naming.draw(PYTHON, strategy, names, taken, rng, pool)
