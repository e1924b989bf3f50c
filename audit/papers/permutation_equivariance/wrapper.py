"""`--wrap columns` and `--wrap rows`: the same network, permuted, must give the same answers.

Columns: the hidden columns of the weights are permuted consistently. Rows: the tokens are permuted between
the first block and the last, and put back. The driver asks each sample of the plain network, of the permuted
one, and of a broken one, which shows whether the answers depend on what was permuted at all.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from math import lgamma, log
from typing import Any, Final

import torch
from torch import nn
from typing_extensions import override

from codeaudit.audit.interface import Model
from codeaudit.audit.models.wrappers import Wrapping
from codeaudit.audit.papers.checkpoint import PaperModel, one_thread
from codeaudit.audit.records import Failed, NetworkProof, NetworkQuery, Prediction, Query
from codeaudit.audit.registry import DEFAULT_TASK
from codeaudit.audit.tasks.function_name import MASK
from codeaudit.transforms.columns.layout import Indices, Layout, draw
from codeaudit.transforms.columns.permute import permuting, permuting_rows, stacks
from codeaudit.transforms.columns.proof import EXACT, Deviation, RowProof, change, exactly, rows_exactly
from codeaudit.transforms.columns.tracing import AxisGroups, Call, infer, watched, watched_apart
from codeaudit.transforms.errors import ModelError
from codeaudit.transforms.grammar import first_of
from codeaudit.transforms.seeding import stream

NOISE: Final = 1e-4
"""Largest change of a score by sums in another order: measured on the bundled checkpoints, times four."""

NOTICED: Final = 1e-3
"""The least change of the outputs, relative to the largest one, that the broken network must show."""

ENCODED: Final = "encoder_outputs"
"""The argument by which writers of `transformers` give what the encoder made."""

PROBES: Final[Mapping[str, str]] = {
    "python": f"def {MASK}(first, second):\n    total = first + second\n    return total\n",
    "java": f"int {MASK}(int first, int second) {{\n    int total = first + second;\n    return total;\n}}\n",
    "x86": "addq %rax, %rbx\nmovq %rbx, %rcx\n",
}
"""What the network computes for the proof, which therefore does not depend on the inputs of the run."""


class Permuted(Wrapping):
    """A model that answers a `NetworkQuery` with its changed network, and all others as it is.

    Name and fingerprint stay the inner ones. Making one traces and proves nothing; the first use does, and
    takes seconds.
    """

    def __init__(self, inner: Model, *, seed: int) -> None:
        module = getattr(inner, "module", None)
        if not isinstance(module, nn.Module):
            raise ModelError(f"model {inner.name!r} has no weights here that could be permuted")
        super().__init__(inner)
        self.module = module
        self.seed = seed

    @property
    def noise(self) -> float:
        """The inner model's, at least that of sums in another order."""
        return max(self.inner.noise, NOISE)

    @property
    def network(self) -> NetworkProof:
        """What was proved of the permuted network.

        Raises:
            ModelError: nothing can be permuted, or the permuted network does not compute the same.
        """
        raise NotImplementedError

    def changed(self, name: str) -> AbstractContextManager[None]:
        """A context in which the network is changed by the transform of this name."""
        raise NotImplementedError

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """The answers in the order of the queries, each by its network.

        Raises:
            ModelError: as `network`.
        """
        places: dict[str, list[int]] = {}
        for place, query in enumerate(queries):
            places.setdefault(query.network if isinstance(query, NetworkQuery) else "", []).append(place)
        predictions: dict[int, Prediction] = {}
        for name, group in places.items():
            with self.changed(name) if name else nullcontext():
                predictions.update(
                    zip(group, self.inner.predict([queries[place] for place in group]), strict=True)
                )
        return [predictions[place] for place in range(len(queries))]

    @cached_property
    def probe(self) -> Call:
        """A call of the network with a short text.

        Raises:
            ModelError: it computes nothing for any of the texts.
        """
        for language, source in PROBES.items():
            query = Query(task=self.inner.task or DEFAULT_TASK, language=language, source=source)
            if isinstance(self.inner, PaperModel) and (inputs := self.inner.one_call(query)) is not None:
                return self.of_words(Call(inputs, {}))
            encoder = self._encoder
            with (
                watched(self.module) as calls,
                watched(encoder or self.module) as encoded,
                watched_apart(self.module) as apart,
            ):
                self.inner.predict([query])
            if calls:
                call = calls[0]
                if encoder and ENCODED in call.kwargs:
                    # Writers run the encoder before, but what it computes is as much the network's.
                    call = _from_texts(call, encoded[0])
                    modules = set(encoder.modules())
                    apart -= {name for name, part in self.module.named_modules() if part in modules}
                if apart:
                    raise ModelError(
                        f"model {self.name!r} computes {first_of(sorted(apart))} outside its forward pass, "
                        "so nothing can be proved of its permuted network"
                    )
                return _alone(call)
        raise ModelError(f"model {self.name!r} computes nothing for a short text of {', '.join(PROBES)}")

    def of_words(self, call: Call) -> Call:
        """The probe of a network that writes word by word, from the call that computes the whole answer."""
        return _alone(call)

    @property
    def _encoder(self) -> nn.Module | None:
        """The encoder of a network of `transformers` that has one beside its decoder."""
        config: Any = getattr(self.module, "config", None)
        if not getattr(config, "is_encoder_decoder", False):
            return None
        module: Any = self.module
        encoder = module.get_encoder()
        return encoder if isinstance(encoder, nn.Module) else None

    def proved(
        self, name: str, deviation: Deviation, *, groups: int, bits: float, broken: float
    ) -> NetworkProof:
        """What was found, checked.

        Raises:
            ModelError: the permuted network computes something else, or the broken one the same.
        """
        # If the permuted network computed something else, changed answers would say nothing about the model.
        if not deviation.within(EXACT):
            hint = "; its blocks depend on the places of tokens: try --wrap columns" if name == "rows" else ""
            raise ModelError(
                f"the network of {self.name!r} with permuted {name} does not compute the same: outputs "
                f"differ by {deviation.forward:.1e}, gradients by {deviation.backward:.1e}{hint}"
            )
        if not broken >= NOTICED:
            raise ModelError(
                f"the broken network of {self.name!r} computes nearly the same: "
                f"outputs differ by {broken:.1e}"
            )
        return NetworkProof(
            wrap=name,
            groups=groups,
            bits=bits,
            forward=deviation.forward,
            backward=deviation.backward,
            broken=broken,
        )


class PermutedColumns(Permuted):
    """`--wrap columns`: hidden columns permuted with the weights (theorems 4.4 and 4.5)."""

    @cached_property
    def network(self) -> NetworkProof:
        """As `Permuted.network`."""
        groups, permutations = self._plan
        layout = groups.layout
        with one_thread():  # so that the last digits do not depend on the machine
            deviation = exactly(self.module, groups, permutations, self.probe)
            broken = change(self.module, layout.broken(), permutations, self.probe)
        return self.proved("columns", deviation, groups=len(layout.sizes), bits=layout.bits, broken=broken)

    def changed(self, name: str) -> AbstractContextManager[None]:
        """As `Permuted.changed`."""
        assert self.network
        groups, permutations = self._plan
        layout: Layout = groups.layout if name == "columns" else groups.layout.broken()
        return permuting(self.module, layout, permutations)

    @cached_property
    def _plan(self) -> tuple[AxisGroups, list[Indices]]:
        groups = infer(self.module, self.probe)
        if not groups.layout.sizes:
            raise ModelError(f"no columns of model {self.name!r} can be permuted")
        return groups, draw(groups.layout.sizes, stream(self.seed, "columns"))


class PermutedRows(Permuted):
    """`--wrap rows`: tokens permuted inside the blocks, with masks and rotary tables (theorems 4.1 and 4.2).

    Only networks whose blocks do not depend on the places of tokens compute the same. Inputs of the permuted
    networks are answered one by one, because the size of a batch could be taken for the number of tokens.
    """

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """As `Permuted.predict`."""
        places = [place for place, query in enumerate(queries) if isinstance(query, NetworkQuery)]
        plain = [query for query in queries if not isinstance(query, NetworkQuery)]
        answers = iter(super().predict(plain) if plain else [])
        by_place = {place: self._prediction(queries[place]) for place in places}
        return [by_place[place] if place in by_place else next(answers) for place in range(len(queries))]

    def _prediction(self, query: Query) -> Prediction:
        try:
            return super().predict([query])[0]
        except _SameSizeError:
            return Failed(reason="as many tokens as another axis of the network has elements")

    @cached_property
    def network(self) -> NetworkProof:
        """As `Permuted.network`. `bits` are those of the orders of the probe's tokens."""
        proof = self._proof
        if proof.tokens < 2:
            raise ModelError(f"the largest stack of blocks of {self.name!r} is given one token")
        return self.proved(
            "rows",
            proof.deviation,
            groups=1,
            bits=lgamma(proof.tokens + 1) / log(2),
            broken=proof.broken,
        )

    def changed(self, name: str) -> AbstractContextManager[None]:
        """As `Permuted.changed`."""
        assert self.network
        return permuting_rows(
            stacks(self.module)[0], rows=self._rows, company=True, broken=name == "rows-broken"
        )

    @override
    def of_words(self, call: Call) -> Call:
        # The blocks that write get one word at a time, so what is proved of all words says nothing of them.
        raise ModelError(
            f"the network of {self.name!r} writes word by word, so the rows of its blocks cannot be "
            "permuted: try --wrap columns"
        )

    @cached_property
    def _proof(self) -> RowProof:
        with one_thread():
            return rows_exactly(self.module, self.probe, self._order)

    def _order(self, count: int) -> Indices:
        """The order of so many tokens."""
        return draw([count], stream(self.seed, "rows", count))[0]

    def _rows(self, count: int) -> Indices:
        if count in self._proof.sizes:
            raise _SameSizeError
        return self._order(count)


class _SameSizeError(Exception):
    """An input has as many tokens as another axis has elements."""


def _alone(call: Call) -> Call:
    """The call without state shared with other calls: caches, and tensors of inference mode."""
    kwargs = {key: value for key, value in call.kwargs.items() if not _is_cache(value)}
    if "use_cache" in kwargs or len(kwargs) < len(call.kwargs):
        kwargs["use_cache"] = False
    with torch.inference_mode(False):
        copies = [tensor.clone() for tensor in call.tensors]
    return Call(call.args, kwargs).using(iter(copies))


def _from_texts(call: Call, encoded: Call) -> Call:
    """The call of a whole encoder-decoder: what the encoder was given in place of what it made."""
    names = ("input_ids", "inputs_embeds", "attention_mask")
    kwargs = {name: encoded.kwargs[name] for name in names if encoded.kwargs.get(name) is not None}
    if encoded.args:
        kwargs["input_ids"] = encoded.args[0]
    return Call(call.args, {**{key: value for key, value in call.kwargs.items() if key != ENCODED}, **kwargs})


def _is_cache(value: object) -> bool:
    """Whether an argument holds the keys and values of earlier words. Its name depends on the version."""
    return any(kind.__name__ == "Cache" for kind in type(value).__mro__)
