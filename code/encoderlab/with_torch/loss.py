"""How wrong a prediction is."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from encoderlab.with_torch.embeddings import require_range

NEVER = -100


def cross_entropy(
    logits: Float[Tensor, "*batch V"],
    targets: Int[Tensor, "*batch"],
    *,
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    r"""Mean negative log-probability of the right class.

    .. math:: -\frac1N \sum_n \left[(1 - \epsilon) \log p_{n, t_n}
        + \frac{\epsilon}{V} \sum_v \log p_{n, v}\right], \quad
        p_n = \mathrm{softmax}(x_n)

    Parameters
    ----------
    logits
        Scores of the V classes, before softmax.
    targets
        The right class of each position, from 0 to V - 1.
    ignore_index
        Positions with this target do not count, neither in the sum nor in N. None
        counts all.
    label_smoothing
        The share :math:`\epsilon` of the target's probability spread evenly over all
        classes, in [0, 1).

    Returns
    -------
    Tensor
        The loss in nats. It is 0 if every target is ignored, with gradients of 0.
        (``torch.nn.functional.cross_entropy`` gives NaN there.)

    Raises
    ------
    TypeError
        If ``targets`` are not whole numbers.
    ValueError
        If the shapes do not fit, a target is out of range, or ``label_smoothing`` is.

    Notes
    -----
    Label smoothing: Szegedy and others, 2016, section 7. Chapters 13 and 15.

    Examples
    --------
    >>> import torch
    >>> cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3]))  # log 4
    tensor(1.3863)
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"targets must have one class for each row of logits, expected shape "
            f"{tuple(logits.shape[:-1])}, got {tuple(targets.shape)}"
        )
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"label_smoothing must be in [0, 1), got {label_smoothing}")
    ignored = torch.zeros_like(targets, dtype=torch.bool)
    if ignore_index is not None:
        ignored = targets == ignore_index
    require_range("targets", targets.masked_fill(ignored, 0), logits.shape[-1])
    total = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),  # (N, V)
        targets.long().masked_fill(ignored, NEVER).flatten(),
        ignore_index=NEVER,
        label_smoothing=label_smoothing,
        reduction="sum",
    )
    return total / (~ignored).sum().clamp(min=1)
