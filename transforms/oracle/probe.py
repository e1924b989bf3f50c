"""An argument that accepts every operation and records it."""

from collections.abc import Iterator
from typing import Any

_STEPS = 2


class Probe:
    """Accepts every attribute, call and operator, and appends each to a log shared by all probes that came
    from it.

    The result of an operation depends only on the path that led to it. Two programs that do the same
    operations in the same order therefore see the same results.
    """

    __path: str
    __log: list[str]

    def __init__(self, path: str, log: list[str]) -> None:
        object.__setattr__(self, "_Probe__path", path)
        object.__setattr__(self, "_Probe__log", log)

    def __tell(self, what: str, *operands: Any) -> str:
        shown = ", ".join(_shown(operand) for operand in operands)
        path = f"{self.__path}.{what}({shown})"
        if len(self.__log) < 2_000:
            self.__log.append(path)
        return path if len(path) < 200 else path[:200]

    def __getattr__(self, name: str) -> "Probe":
        if name.startswith("__"):
            raise AttributeError(name)
        self.__tell(f"get {name}")
        return Probe(f"{self.__path}.{name}", self.__log)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__tell(f"set {name}", value)

    def __delattr__(self, name: str) -> None:
        self.__tell(f"del {name}")

    def __call__(self, *arguments: Any, **named: Any) -> "Probe":
        """Record the call; returns another probe."""
        return Probe(self.__tell("call", *arguments, *sorted(named.items())), self.__log)

    def __getitem__(self, key: Any) -> "Probe":
        return Probe(self.__tell("item", key), self.__log)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__tell("set item", key, value)

    def __delitem__(self, key: Any) -> None:
        self.__tell("del item", key)

    def __iter__(self) -> Iterator["Probe"]:
        path = self.__tell("iter")
        for step in range(_STEPS):
            self.__tell(f"next {step}")
            yield Probe(f"{path}[{step}]", self.__log)

    def __len__(self) -> int:
        self.__tell("len")
        return _STEPS

    def __bool__(self) -> bool:
        path = self.__tell("bool")
        return sum(path.encode()) % 3 != 0

    def __index__(self) -> int:
        self.__tell("index")
        return _STEPS

    def __int__(self) -> int:
        self.__tell("int")
        return _STEPS

    def __float__(self) -> float:
        self.__tell("float")
        return 2.5

    def __str__(self) -> str:
        self.__tell("str")
        return self.__path

    def __repr__(self) -> str:
        return f"<probe {self.__path}>"

    def __hash__(self) -> int:
        self.__tell("hash")
        return hash(self.__path)

    def __contains__(self, item: Any) -> bool:
        return len(self.__tell("contains", item)) % 2 == 0

    def __enter__(self) -> "Probe":
        return Probe(self.__tell("enter"), self.__log)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.__tell("exit", kind)

    def __eq__(self, other: object) -> bool:
        path = self.__tell("eq", other)
        return isinstance(other, Probe) and path.startswith(f"{other.__path}.")

    def __lt__(self, other: Any) -> bool:
        return len(self.__tell("lt", other)) % 2 == 0

    def __le__(self, other: Any) -> bool:
        return len(self.__tell("le", other)) % 2 == 0

    def __gt__(self, other: Any) -> bool:
        return len(self.__tell("gt", other)) % 2 == 0

    def __ge__(self, other: Any) -> bool:
        return len(self.__tell("ge", other)) % 2 == 0


def _shown(value: Any) -> str:
    kind = type(value)
    if kind in (int, float, bool, str, bytes, type(None), Probe):
        return repr(value)[:60]
    if kind in (list, tuple) and len(value) < 10:
        return f"{kind.__name__}[{', '.join(map(_shown, value))}]"
    return kind.__name__


def _operator(name: str) -> Any:
    def apply(self: Any, *operands: Any) -> Probe:
        return Probe(self._Probe__tell(name, *operands), self._Probe__log)

    return apply


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "matmul",
):
    setattr(Probe, f"__{_name}__", _operator(_name))
    setattr(Probe, f"__r{_name}__", _operator(f"r{_name}"))
for _name in ("neg", "pos", "invert", "abs", "round"):
    setattr(Probe, f"__{_name}__", _operator(_name))
