"""What searches found, in numbers."""

from dataclasses import replace

from codeaudit.audit.records import Attacked, Predicted, Violated
from codeaudit.reports.records import Summary
from codeaudit.reports.sheets import sheets
from codeaudit.reports.summarise import with_attacks
from codeaudit.transforms.records import Perturbed
from tests.reports.test_compare import MODELS, run
from tests.support.audited import sample
from tests.support.models import perturbed


def attacked(name: str, queries: int, *, flips: bool, certified: bool = False, reason: str = "") -> Attacked:
    own = sample(name)
    made: Perturbed = perturbed(own, "x")
    answer = Predicted(answer=("a",))
    return Attacked(
        model="spe",
        seed=0,
        sample=own,
        strategy="random",
        budget=8,
        queries=queries,
        violated=Violated(perturbed=made, before=answer, after=answer, deviation=0.0) if flips else None,
        certified=certified,
        reason=reason,
    )


def summary() -> Summary:
    return run("r", MODELS).summary


FOUND = [
    attacked("a", 1, flips=True),
    attacked("b", 4, flips=True),
    attacked("c", 8, flips=False, certified=True),
    attacked("d", 0, flips=False, reason="no perturbation could be applied"),
]


def test_the_curve_counts_samples_by_queries() -> None:
    spe, vanilla = with_attacks(summary(), FOUND).models
    (attack,) = spe.attacks
    assert attack.curve == (1, 1, 1, 2, 2, 2, 2, 2)
    assert (attack.violated.count, attack.violated.total, attack.certified, attack.queries) == (2, 3, 1, 13)
    assert attack.not_attacked == {"no perturbation could be applied": 1}
    assert vanilla.attacks == ()


def test_a_sample_of_several_trials_is_one_unit() -> None:
    again = [replace(each, seed=1) for each in FOUND]
    (attack,) = with_attacks(summary(), FOUND + again).models[0].attacks
    assert (attack.violated.count, attack.violated.total, attack.violated.clusters) == (4, 6, 3)


def test_the_table_and_the_json_hold_it() -> None:
    made = with_attacks(summary(), FOUND)
    assert Summary.from_json(made.to_json()) == made
    sheet = next(sheet for sheet in sheets(made) if sheet.title == "Worst-case search")
    assert [column.head for column in sheet.columns[2:4]] == ["by 1", "by 4"]
    assert [cell.lines[0] for cell in sheet.rows[0]][:5] == ["spe", "random, 8", "1", "2", "66.7 %"]
    assert not [sheet for sheet in sheets(summary()) if sheet.title == "Worst-case search"]
