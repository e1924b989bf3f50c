"""What the papers' trainings share: splits that do not overlap, and recipes that give sizes."""

from dataclasses import dataclass
from random import Random

import pytest

from codeaudit.audit.papers.renamer.material import TermRecipe
from codeaudit.audit.papers.renamer.networks import TermSizes
from codeaudit.audit.training.splits import Splits, held_out, split
from codeaudit.audit.training.trainer import recipe_of
from codeaudit.transforms.errors import UsageError


@dataclass(frozen=True)
class Item:
    group: str
    text: str


def items(count: int) -> list[Item]:
    return [Item(f"g{number % 60}", f"t{number}") for number in range(count)]


def parted(train: list[Item], valid: list[Item] | None = None) -> tuple[Splits[Item], int]:
    return split(train, valid, None, group=lambda unit: unit.group, same=lambda unit: unit.text, spelled=str)


def test_a_twentieth_of_the_groups_is_held_out_twice() -> None:
    for_valid, for_test = held_out([f"g{number}" for number in range(60)], str)
    assert len(for_valid) == len(for_test) == 3
    assert not for_valid & for_test
    assert all(held_out(["a", "b"], str))


def test_no_group_is_in_two_splits_and_the_order_of_a_corpus_decides_nothing() -> None:
    given = items(300)
    parts, left_out = parted(given)
    groups = [{unit.group for unit in part} for part in parts]
    assert all(groups)
    assert left_out == 0
    assert sum(map(len, parts)) == 300
    assert not groups[0] & groups[1]
    assert not groups[0] & groups[2]
    assert not groups[1] & groups[2]
    shuffled, _ = parted(Random(1).sample(given, 300))
    assert [set(part) for part in shuffled] == [set(part) for part in parts]


def test_a_given_split_leaves_out_what_is_learned() -> None:
    fresh = Item("other", "new")
    parts, left_out = parted(items(300), [*items(2), fresh])
    known = {unit.text for unit in parts.train}
    assert parts.valid == [unit for unit in (*items(2), fresh) if unit.text not in known]
    assert left_out == 3 - len(parts.valid)


def test_a_recipe_gives_the_sizes_of_its_network() -> None:
    recipe = TermRecipe(network="renamer", width=16, window=9)
    assert recipe.sizes(7) == TermSizes(vocabulary=7, width=16, window=9, layers=2, heads=2)
    assert recipe.total_steps(130) == 15 * 3
    with pytest.raises(UsageError, match="--heads 3 does not divide --width 16"):
        recipe_of(TermRecipe, network="renamer", width=16, heads=3)
