"""Sequences whose answer can be worked out exactly."""

import numpy as np
from jaxtyping import Int

from encoderlab.with_numpy.parameters import require_generator


def sample_reversal(
    num_sequences: int, length: int, num_symbols: int, *, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "B T"], Int[np.ndarray, "B T"]]:
    """Draw sequences that are to be read backwards.

    Parameters
    ----------
    num_sequences
        How many, at least 1.
    length
        Symbols of a sequence, at least 1.
    num_symbols
        Different symbols, at least 2: ids from 0 to ``num_symbols - 1``.
    rng
        Source of the symbols.

    Returns
    -------
    token_ids : np.ndarray
        The sequences.
    targets : np.ndarray
        The same, each from its end to its beginning.

    Raises
    ------
    TypeError
        If ``rng`` is not a Generator.
    ValueError
        If a number is too small.

    Notes
    -----
    A model without positions can only guess: it does not know which symbol came last.
    Chapters 13 and 15.

    Examples
    --------
    >>> token_ids, targets = sample_reversal(1, 4, 9, rng=np.random.default_rng(0))
    >>> token_ids, targets
    (array([[7, 5, 4, 2]]), array([[2, 4, 5, 7]]))
    """
    require_generator(rng)
    if min(num_sequences, length) < 1 or num_symbols < 2:
        raise ValueError(
            "num_sequences and length must be at least 1 and num_symbols 2, got "
            f"{num_sequences}, {length} and {num_symbols}"
        )
    token_ids = rng.integers(num_symbols, size=(num_sequences, length))
    return token_ids, token_ids[:, ::-1].copy()
