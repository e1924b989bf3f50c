"""The process's own streams. Light, since the command's entry needs it."""

import os


def silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
