"""Write learned.bin into the bundled checkpoints: hashes of the functions that each learned from.

    python benchmarks/learned_texts.py --tables FOLDER

FOLDER has the tables that the cards name (python_functions.jsonl.gz, java_methods.jsonl.gz). Detectors of
seeded bugs learned from the same functions; their texts with a bug are left out.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from codeaudit.audit.checkpoints import FOLDER
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.training.learned import FILE, learned_hashes


def main() -> None:
    """Write the files, and print how many texts each has."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=Path, required=True)
    tables = parser.parse_args().tables
    made: dict[str, bytes] = {}
    for card in sorted(FOLDER.glob("*/model-card.json")):
        spec = json.loads(card.read_text("utf-8")).get("corpora", {}).get("train", "")
        name = ":".join(spec.split(":")[-2:])
        if not name.startswith(("python_functions", "java_methods")):
            continue
        if name not in made:
            made[name] = learned_hashes(corpus(str(tables / name)).read(Counter()))
        (card.parent / FILE).write_bytes(made[name])
        print(f"{card.parent.name}: {len(made[name]) // 4:,} texts")


if __name__ == "__main__":
    main()
