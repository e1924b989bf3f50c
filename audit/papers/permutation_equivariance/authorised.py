"""A sealed checkpoint in use: with the key, the outside is made to fit the sealed inside.

The weights of the blocks stay permuted; embeddings and head are permuted as they are (Eq. 5 of Xu et al.
2024, with P_C taken into F1 and its inverse into F2). What is trained then is what would have been trained
without a seal, permuted (corollary 4.6).
"""

from codeaudit.audit.papers.permutation_equivariance.opening import Opened
from codeaudit.transforms.columns.keys import Key
from codeaudit.transforms.columns.permute import permute_module
from codeaudit.transforms.columns.sealing import Seal
from codeaudit.transforms.errors import ModelError


def authorise(opened: Opened, key: Key) -> None:
    """Permute the outside of a sealed module in place, so that it answers as before it was sealed.

    Raises:
        ModelError: another key, another scheme, or a module that gives hidden states.
    """
    found = Seal.read(opened.folder)
    salted = found.opened(key)
    if found.scheme != "columns":
        raise ModelError("a checkpoint sealed by cipher cannot run; unseal it")
    if not opened.answers:
        raise ModelError(
            f"{type(opened.module).__name__} gives hidden states, which stay permuted; unseal it"
        )
    every = {number: number for number in range(len(found.layout.sizes))}
    names = {opened.names[name]: name for name in found.outside}
    permute_module(opened.module, found.layout.only(every, names), salted.permutations(found.layout.sizes))
