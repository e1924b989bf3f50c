"""`--wrap columns`: the same network with permuted hidden columns must give the same answers.

A repeated, unchanged query is answered with permuted weights. So the noise floor of the run counts the
answers that the permutation changed: it compares two models on one input.
"""

from collections.abc import Sequence
from typing import Final

import torch
from torch import nn

from codeaudit.audit.interface import Model
from codeaudit.audit.models.wrappers import Wrapping
from codeaudit.audit.records import Prediction, Query
from codeaudit.transforms.columns.layout import Indices, draw
from codeaudit.transforms.columns.permute import permuting
from codeaudit.transforms.columns.proof import EXACT, exactly
from codeaudit.transforms.columns.tracing import AxisGroups, Call, infer, watched
from codeaudit.transforms.errors import ModelError
from codeaudit.transforms.seeding import stream

NOISE: Final = 1e-4
"""Largest change of a score by sums in another order: measured on the bundled checkpoints, times four."""


class Columns(Wrapping):
    """A model that answers repeated queries with permuted weights, and all others as it is: name and
    fingerprint stay the inner ones.
    """

    def __init__(self, inner: Model, *, seed: int) -> None:
        module = getattr(inner, "module", None)
        if not isinstance(module, nn.Module):
            raise ModelError(f"model {inner.name!r} has no weights here whose columns could be permuted")
        super().__init__(inner)
        self._module = module
        self._seed = seed
        self._found: tuple[AxisGroups, list[Indices]] | None = None

    @property
    def noise(self) -> float:
        """The inner model's, at least that of sums in another order."""
        return max(self.inner.noise, NOISE)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """The inner model's answers."""
        return self.inner.predict(queries)

    def again(self, queries: Sequence[Query]) -> list[Prediction]:
        """The answers of the permuted model.

        Raises:
            ModelError: no columns can be permuted, or the permuted network does not compute the same.
        """
        # Found and proved once, with the first call that computes anything, because tracing takes seconds.
        groups, permutations = self._found or self._prepared(queries)
        with permuting(self._module, groups.layout, permutations):
            return self.inner.predict(queries)

    def _prepared(self, queries: Sequence[Query]) -> tuple[AxisGroups, list[Indices]]:
        for query in queries:
            with watched(self._module) as calls:
                self.inner.predict([query])
            if calls:
                break
        else:
            raise ModelError(f"model {self.name!r} computes nothing for these inputs")
        call = _alone(calls[0])
        groups = infer(self._module, call)
        if not groups.layout.sizes:
            raise ModelError(f"no columns of model {self.name!r} can be permuted")
        # Only columns are permuted. Permuted rows would fail with causal masks, relative positions or
        # padding.
        permutations = draw(groups.layout.sizes, stream(self._seed, "columns"))
        proved = exactly(self._module, groups, permutations, call)
        # If the permuted network computed something else, changed answers would say nothing about the model.
        if not proved.within(EXACT):
            raise ModelError(
                f"the permuted network of {self.name!r} does not compute the same: outputs differ by "
                f"{proved.forward:.1e}, gradients by {proved.backward:.1e}"
            )
        self._found = groups, permutations
        return self._found


def _alone(call: Call) -> Call:
    """The call without state shared with other calls: caches, and tensors of inference mode."""
    kept = {key: one for key, one in call.kwargs.items() if key != "past_key_values"}
    if "use_cache" in kept or len(kept) < len(call.kwargs):
        kept["use_cache"] = False
    with torch.inference_mode(False):
        copies = [tensor.clone() for tensor in call.tensors]
    return Call(call.args, kept).using(iter(copies))
