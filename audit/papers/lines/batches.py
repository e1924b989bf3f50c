"""Encoded functions as padded tensors."""

from collections.abc import Sequence

import numpy as np
import torch

from codeaudit.audit.papers.lines.encoding import Encoded
from codeaudit.audit.papers.lines.trunk import Batch


def collate(inputs: Sequence[Encoded]) -> Batch:
    """Inputs of any lengths, padded to the longest."""
    tokens = max(len(one.ids) for one in inputs)
    lines = max(one.lines for one in inputs)
    ids, line, position, referents = (np.zeros((len(inputs), tokens), dtype=np.int64) for _ in range(4))
    bound = all(one.referents is not None for one in inputs)
    relation = np.zeros((len(inputs), len(inputs[0].relation), lines, lines), dtype=np.uint8)
    for row, one in enumerate(inputs):
        count = len(one.ids)
        ids[row, :count] = one.ids
        line[row, :count] = one.line
        position[row, :count] = one.position
        relation[row, :, : one.lines, : one.lines] = one.relation
        if one.referents is not None:
            referents[row, :count] = one.referents
    return Batch(
        ids=torch.from_numpy(ids),
        line=torch.from_numpy(line),
        position=torch.from_numpy(position),
        relation=torch.from_numpy(relation),
        referents=torch.from_numpy(referents) if bound else None,
    )
