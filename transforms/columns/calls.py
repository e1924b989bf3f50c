"""One call of a module as a record, to repeat it with other tensors or in another precision."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call. Tensors may be nested in lists, tuples, mappings and dataclasses."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self, module: nn.Module) -> object:
        """Call the module with these arguments and return its output."""
        return module(*self.args, **self.kwargs)

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors in the arguments, in order."""
        found: list[Tensor] = []

        def noted(tensor: Tensor) -> Tensor:
            found.append(tensor)
            return tensor

        self._changed(noted)
        return found

    def using(self, tensors: Iterator[Tensor]) -> "Call":
        """The same call with these in place of its tensors."""
        return self._changed(lambda tensor: next(tensors))

    def double(self) -> "Call":
        """The same call with all floating-point tensors in double precision."""
        return self._changed(lambda tensor: tensor.double() if tensor.is_floating_point() else tensor)

    def _changed(self, change: Callable[[Tensor], Tensor]) -> "Call":
        args = tuple(_changed(one, change) for one in self.args)
        return Call(args, {key: _changed(one, change) for key, one in self.kwargs.items()})


def _changed(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return change(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.init]
        return replace(value, **{name: _changed(getattr(value, name), change) for name in names})
    if isinstance(value, Mapping):
        return {key: _changed(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        parts = [_changed(one, change) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


@contextmanager
def watched(module: nn.Module) -> Iterator[list[Call]]:
    """A context manager that records all calls of a module made inside it, in order."""
    found: list[Call] = []

    def note(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        found.append(Call(args, kwargs))

    handle = module.register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield found
    finally:
        handle.remove()
