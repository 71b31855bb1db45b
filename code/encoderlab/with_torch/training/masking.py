"""Masked language modelling: what is hidden, and how good the guesses are."""

from collections.abc import Collection

import torch
from jaxtyping import Int
from torch import Tensor

from encoderlab.with_torch.embeddings import require_range


def mask_tokens(
    token_ids: Int[Tensor, "*batch T"],
    *,
    mask_id: int,
    vocab_size: int,
    special_ids: Collection[int],
    probability: float = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "*batch T"], Int[Tensor, "*batch T"]]:
    """Choose tokens to be guessed, and hide most of them.

    Of the chosen ones 80 % become ``[MASK]``, 10 % a token drawn at random, and 10 %
    stay as they are, so that the encoder has to have an opinion on every token.

    Parameters
    ----------
    token_ids
        Ids from 0 to ``vocab_size - 1``; left unchanged.
    mask_id
        The id of ``[MASK]``.
    vocab_size
        Number of ids.
    special_ids
        Ids that are neither chosen nor drawn: ``[MASK]``, padding, ``[CLS]`` and so on.
        All others are drawn equally often.
    probability
        With which each of the other tokens is chosen, in [0, 1].
    generator
        Source of the choices; None takes torch's own, which a checkpoint stores.

    Returns
    -------
    inputs : Tensor
        What the encoder reads.
    targets : Tensor
        The chosen tokens' ids, those of the tokens that stay as they are too; -100
        everywhere else. Both have the dtype of ``token_ids``.

    Raises
    ------
    TypeError
        If ids are not whole numbers, or of a dtype that does not hold -100 and all ids.
    ValueError
        If ``probability`` or an id is out of range, ``special_ids`` lacks ``mask_id``,
        or leaves no token to draw.

    Notes
    -----
    Devlin and others, 2019, section 3.1 and appendix A.1. Their published code chooses
    exactly 15 % of each sequence; here every token is chosen by itself, and has a
    fate of its own. A drawn token may be the very one that was there, as in their code;
    to draw from the others alone is as good. Chapter 16.

    Examples
    --------
    What is drawn depends on the order of the draws; for example:

    >>> ids = torch.tensor([1, 5, 6, 7, 8, 9, 4, 0, 0])
    >>> mask_tokens(ids, mask_id=2, vocab_size=10, special_ids={0, 1, 2},
    ...     probability=0.5, generator=torch.Generator().manual_seed(7))
    (tensor([1, 3, 6, 7, 2, 2, 2, 0, 0]),
     tensor([-100,    5, -100, -100,    8,    9,    4, -100, -100]))
    """
    if not 0 <= probability <= 1:
        raise ValueError(f"probability must be in [0, 1], got {probability}")
    special_ids = set(special_ids)
    if mask_id not in special_ids:
        raise ValueError(
            f"special_ids must hold mask_id, {mask_id}, got {sorted(special_ids)}"
        )
    special = torch.tensor(sorted(special_ids))
    require_range("special_ids", special, vocab_size)
    require_range("token_ids", token_ids, vocab_size)
    holds = torch.iinfo(token_ids.dtype)
    if holds.min > -100 or holds.max < vocab_size - 1:
        raise TypeError(
            f"token_ids must have a dtype that holds -100 and {vocab_size - 1}, got "
            f"{token_ids.dtype}; give token_ids.long()"
        )
    ordinary = torch.ones(vocab_size, dtype=torch.bool)
    ordinary[special] = False
    words = ordinary.nonzero().flatten().to(token_ids)  # the ids that may be drawn
    if len(words) == 0:
        raise ValueError("special_ids must leave at least one id that may be drawn")
    device = "cpu" if generator is None else generator.device

    def draw():
        numbers = torch.rand(token_ids.shape, generator=generator, device=device)
        return numbers.to(token_ids.device)

    may_be = ordinary.to(token_ids.device)[token_ids.long()]
    chosen = may_be & (draw() < probability)
    fate = draw()
    drawn = words[(draw() * len(words)).long()]
    hidden = torch.where(fate < 0.8, torch.full_like(token_ids, mask_id), drawn)
    inputs = torch.where(chosen & (fate < 0.9), hidden, token_ids)
    return inputs, token_ids.masked_fill(~chosen, -100)


def perplexity(loss: float | Tensor) -> float:
    r"""Turn a mean cross-entropy into a number of equally likely choices.

    .. math:: \mathrm{PPL} = e^{L}

    Parameters
    ----------
    loss
        Mean cross-entropy L in nats; over all targets at once, for the mean of the
        batches' perplexities is another number.

    Returns
    -------
    float
        The perplexity, 1 for a model that is always right.

    Raises
    ------
    ValueError
        If ``loss`` is more than one number.

    Notes
    -----
    Of the hidden tokens alone: not to be compared with a language model's, which sees
    the left side only. Chapter 16.

    Examples
    --------
    >>> round(perplexity(torch.tensor(8.0).log()), 3)  # a guess among eight
    8.0
    """
    number = torch.as_tensor(loss, dtype=torch.float64)
    if number.numel() != 1:
        raise ValueError(
            f"loss must be one number, the mean over all targets, got shape "
            f"{tuple(number.shape)}"
        )
    return number.exp().item()


def unigram_perplexity(
    train_ids: Int[Tensor, "..."], held_out_ids: Int[Tensor, "..."], vocab_size: int
) -> float:
    r"""Perplexity of guessing without looking: by how common a token is.

    .. math:: p_v = \frac{n_v + 1}{\sum_u (n_u + 1)}

    Parameters
    ----------
    train_ids
        Ids that are counted; negative ones, such as -100, are not.
    held_out_ids
        Ids to be guessed, likewise.
    vocab_size
        Number of ids V; each is counted once more than it is seen, lest a token that
        never was has no probability.

    Returns
    -------
    float
        The baseline that a model has to beat.

    Raises
    ------
    ValueError
        If an id is ``vocab_size`` or above, or there is none to be guessed.

    Notes
    -----
    Chapter 16.

    Examples
    --------
    >>> unigram_perplexity(torch.tensor([0, 0]), torch.tensor([0, -100]), 2)
    1.33...
    """
    seen, asked = train_ids[train_ids >= 0], held_out_ids[held_out_ids >= 0]
    require_range("train_ids", seen, vocab_size)
    require_range("held_out_ids", asked, vocab_size)
    if len(asked) == 0:
        raise ValueError("held_out_ids must hold at least one id that is not negative")
    counts = torch.bincount(seen.long(), minlength=vocab_size).double() + 1
    return perplexity(-(counts / counts.sum()).log()[asked.long()].mean())
