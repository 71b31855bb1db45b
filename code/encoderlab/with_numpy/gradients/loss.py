"""Backward pass of the loss: where every gradient starts."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from encoderlab.with_numpy.functional import as_float, softmax
from encoderlab.with_numpy.gradients.chain import require_upstream
from encoderlab.with_numpy.loss import cross_entropy


def cross_entropy_vjp(
    logits: Float[np.ndarray, "*batch V"],
    targets: Int[np.ndarray, "*batch"],
    *,
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
) -> tuple[np.floating, Callable]:
    r"""Compute the cross-entropy; keep the way back.

    .. math:: \bar x_{n, v} = \frac{\bar L}{N} \Bigl(p_{n, v}
        - (1 - \epsilon) [v = t_n] - \frac{\epsilon}{V}\Bigr)

    Parameters
    ----------
    logits, targets, ignore_index, label_smoothing
        As in the forward function.

    Returns
    -------
    loss : np.floating
        The loss in nats.
    backward : Callable
        From the gradient of the loss, a number (1 if the loss is what is made small),
        to that of the logits: zeros where a target is ignored.

    Raises
    ------
    TypeError, ValueError
        As the forward function does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> loss, backward = cross_entropy_vjp(np.zeros((1, 4)), np.array([2]))
    >>> backward(1.0)
    array([[ 0.25,  0.25, -0.75,  0.25]])
    """
    logits, targets = as_float(logits), np.asarray(targets)
    loss = cross_entropy(
        logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing
    )

    def backward(d_loss):
        require_upstream(d_loss, loss)
        counted = targets != ignore_index  # all, if it is None
        d_logits = np.zeros_like(logits)
        wrong = softmax(logits[counted])  # (N, V)
        wrong -= label_smoothing / logits.shape[-1]
        wrong[np.arange(len(wrong)), targets[counted]] -= 1.0 - label_smoothing
        d_logits[counted] = wrong * (d_loss / max(len(wrong), 1))
        return d_logits

    return loss, backward
