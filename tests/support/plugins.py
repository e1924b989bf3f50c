"""Installed plug-ins for tests: a folder with a module and the metadata of a distribution."""

from collections.abc import Mapping
from pathlib import Path


def install(
    folder: Path, distribution: str, entry_points: Mapping[str, Mapping[str, str]], modules: Mapping[str, str]
) -> Path:
    """Lay a distribution out as an installer would. Put `folder` on the path to make it visible.

    Args:
        entry_points: by group and name, as `{"codeaudit.transforms": {"shout": "shouting:SHOUT"}}`.
        modules: their source texts by name.
    """
    info = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", "utf-8")
    lines = [
        line
        for group, points in entry_points.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    return folder
