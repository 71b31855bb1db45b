"""How wrong a prediction is."""

import numpy as np
from jaxtyping import Float, Int

from encoderlab.with_numpy.functional import as_float, log_softmax


def cross_entropy(
    logits: Float[np.ndarray, "*batch V"],
    targets: Int[np.ndarray, "*batch"],
    *,
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
) -> np.floating:
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
    np.floating
        The loss in nats. It is 0 if every target is ignored: such a batch asks for no
        change. (``torch.nn.functional.cross_entropy`` gives NaN there.)

    Raises
    ------
    TypeError
        If ``targets`` are not whole numbers.
    ValueError
        If the shapes do not fit, a target is out of range, or ``label_smoothing`` is.

    Notes
    -----
    Label smoothing: Szegedy and others, 2016, section 7. Chapters 12 and 13.

    Examples
    --------
    >>> round(float(cross_entropy(np.zeros((2, 4)), np.array([0, 3]))), 6)  # log 4
    1.386294
    """
    logits, targets = as_float(logits), np.asarray(targets)
    if not np.issubdtype(targets.dtype, np.integer):
        raise TypeError(f"targets must be whole numbers, got {targets.dtype}")
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"targets must have one class for each row of logits, expected shape "
            f"{logits.shape[:-1]}, got {targets.shape}"
        )
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"label_smoothing must be in [0, 1), got {label_smoothing}")
    counted = (
        np.ones(targets.shape, bool)
        if ignore_index is None
        else targets != ignore_index
    )
    logits, targets = logits[counted], targets[counted]  # (N, V), (N,)
    if targets.size == 0:
        return logits.dtype.type(0)
    num_classes = logits.shape[-1]
    if targets.min() < 0 or targets.max() >= num_classes:
        raise ValueError(
            f"targets must be from 0 to {num_classes - 1}, got {targets.min()} to "
            f"{targets.max()}; mark positions that do not count with ignore_index"
        )
    log_p = log_softmax(logits)
    of_target = np.take_along_axis(log_p, targets[:, None], axis=-1)[:, 0]
    if label_smoothing > 0:  # 0 times a log-probability of -inf would be NaN
        of_all = log_p.mean(axis=-1)
        of_target = (1.0 - label_smoothing) * of_target + label_smoothing * of_all
    return -of_target.mean()
