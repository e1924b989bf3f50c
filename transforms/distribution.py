"""The distribution that this program is installed from: its name, its version, and how to get its extras.

The command and the module are `codeaudit`. On package indexes an unrelated program has that name, and so have
its command and its module. Whatever names our distribution takes the name from here.
"""

from typing import Final, Literal

NAME: Final = "codeaudit-ml"
"""The name of our distribution, as pip takes it."""
NAMESAKE: Final = "codeaudit"
"""The other distribution. Where both are installed, each has overwritten files of the other."""

Extra = Literal[
    "emulator",
    "gpus",
    "ray",
    "hub",
    "tensorboard",
    "wandb",
    "socks",
    "inspect",
    "lora",
    "summaries",
    "figures",
]
"""The extras that messages name; `pyproject.toml` says what each installs."""


def requirement(extra: Extra | None = None) -> str:
    """Our distribution with an extra, as pip takes it: `codeaudit-ml[hub]`."""
    return f"{NAME}[{extra}]" if extra else NAME


def how_to_install(extra: Extra | None = None) -> str:
    """The command that installs our distribution with an extra.

    Where ours is installed from a checkout, a wheel or git, pip keeps it and adds what is missing.
    """
    # The quotes keep a shell from reading the brackets.
    return f'pip install "{requirement(extra)}"' if extra else f"pip install {NAME}"


def version_of(distribution: str = NAME) -> str:
    """The version of an installed distribution, from its metadata; empty if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # 20 ms that `--help` does not need

    try:
        return version(distribution)
    except PackageNotFoundError:  # our own is not where a checkout is run
        return ""
