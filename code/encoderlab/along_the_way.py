"""Answers to the exercises that ask for no part of the package."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int

from encoderlab.config import TextConfig
from encoderlab.with_numpy.heads import TokenClassifier
from encoderlab.with_numpy.training import (
    SGD,
    Adam,
    clip_gradients,
    loss_and_gradients,
)


def encoder_shapes(B: int, T: int, D: int, H: int) -> dict[str, tuple[int, ...]]:
    """Give the shapes of the arrays in an encoder.

    Parameters
    ----------
    B
        Texts that are read at once.
    T
        Tokens in each text.
    D
        Numbers in a token's vector.
    H
        Attention heads.

    Returns
    -------
    dict
        Name to shape, a tuple: ``token_ids``, one whole number a token; ``x``, one
        vector a token; ``scores``, for each head every query with every key;
        ``weights``, the scores after softmax; ``output``, what the encoder returns.

    Notes
    -----
    Chapter 01; the order of the axes is that of the page Notation.

    Examples
    --------
    >>> encoder_shapes(2, 5, 12, 3)["x"]
    (2, 5, 12)
    """
    return {
        "token_ids": (B, T),
        "x": (B, T, D),
        "scores": (B, H, T, T),
        "weights": (B, H, T, T),
        "output": (B, T, D),
    }


def reach(mask: Bool[np.ndarray, "T T"], num_layers: int) -> Bool[np.ndarray, "T T"]:
    """Say which token can know of which after some layers.

    Parameters
    ----------
    mask
        True where a query (row) may attend to a key (column); left unchanged.
    num_layers
        Number of layers. In each a token keeps what it knows, and adds what the tokens
        that it attends to knew before this layer.

    Returns
    -------
    np.ndarray
        Booleans, True where a token (row) can know of a token (column). After no layer
        each token knows of itself alone.

    Notes
    -----
    Chapter 01.

    Examples
    --------
    >>> only_the_one_before = np.eye(3, k=-1, dtype=bool)
    >>> reach(only_the_one_before, 1).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    >>> reach(only_the_one_before, 2)[2]
    array([ True,  True,  True])
    """
    known = np.eye(len(mask), dtype=bool)
    for _ in range(num_layers):
        known = known | (mask @ known)  # some key is attended to, and knows
    return known


def embed(
    token_ids: Int[np.ndarray, "B T"],
    segment_ids: Int[np.ndarray, "B T"],
    W_token: Float[np.ndarray, "V D"],
    W_position: Float[np.ndarray, "L D"],
    W_segment: Float[np.ndarray, "G D"],
    norm: Callable[[np.ndarray], np.ndarray],
) -> Float[np.ndarray, "B T D"]:
    r"""Add the rows of each token, its position and its segment, and normalise.

    .. math:: x_t = \mathrm{LayerNorm}\bigl(W_\text{token}[\text{id}_t] +
        W_\text{position}[t] + W_\text{segment}[s_t]\bigr)

    Parameters
    ----------
    token_ids
        The token at each place: a row of ``W_token``.
    segment_ids
        The segment at each place: a row of ``W_segment``.
    W_token, W_position, W_segment
        Tables, one row an id or a position; left unchanged.
    norm
        A LayerNorm, called with the sum.

    Returns
    -------
    np.ndarray
        One vector a token.

    Raises
    ------
    ValueError
        If an id is not a row of its table, negative ids included, or there are more
        tokens than positions.

    Notes
    -----
    Chapter 06. ``TextEmbeddings`` is the whole layer.

    Examples
    --------
    >>> tables = np.eye(2), np.zeros((3, 2)), np.array([[0.0, 5.0]])
    >>> ids = np.array([[1, 0, 1]])
    >>> embed(ids, np.zeros_like(ids), *tables, norm=lambda x: x)
    array([[[0., 6.],
            [1., 5.],
            [0., 6.]]])
    """
    _require_rows("token_ids", token_ids, W_token)
    _require_rows("segment_ids", segment_ids, W_segment)
    seq_len = token_ids.shape[1]
    if seq_len > len(W_position):
        raise ValueError(
            f"W_position has {len(W_position)} rows, too few for {seq_len} tokens; "
            "truncate the texts"
        )
    return norm(W_token[token_ids] + W_position[:seq_len] + W_segment[segment_ids])


def is_position_wise(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> bool:
    """Decide, by running a function, whether it is position-wise.

    Parameters
    ----------
    f
        A function from (T, D) to (T, D), for any T.
    x
        A test input (T, D) of distinct tokens; left unchanged.

    Returns
    -------
    bool
        True if no token's result depends on another token, and all positions are
        treated alike, up to rounding.

    Notes
    -----
    Chapter 08. A test tries a few inputs that can tell; it cannot try all.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 5.0], [-4.0, 0.5]])
    >>> is_position_wise(np.tanh, x)
    True
    >>> is_position_wise(lambda x: x.cumsum(axis=0), x)
    False
    """
    alone = [f(x[t : t + 1]) for t in range(len(x))]  # all at position 0
    return np.allclose(f(x), np.concatenate(alone))


def dropout_backward(
    d_y: Float[np.ndarray, "*shape"], kept: Bool[np.ndarray, "*shape"], p: float
) -> Float[np.ndarray, "*shape"]:
    """Go back through inverted dropout.

    Parameters
    ----------
    d_y
        Gradient of the output; left unchanged.
    kept
        True where the forward pass kept a number.
    p
        Probability with which it dropped one, in [0, 1).

    Returns
    -------
    np.ndarray
        Gradient of the input.

    Notes
    -----
    Chapter 09.

    Examples
    --------
    >>> dropout_backward(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), 0.2)
    array([1.25, 0.  , 3.75])
    """
    return d_y * kept / (1 - p)


def identity_in_evaluation(f: Callable[..., np.ndarray]) -> bool:
    """Test somebody's dropout: does it do nothing in evaluation?

    Parameters
    ----------
    f
        A function, called as ``f(x, p, rng=None)``.

    Returns
    -------
    bool
        True if ``f(x, p)``, without a generator, gives the values of ``x``, as it is or
        as a copy, and leaves the caller's array alone: whatever the floats in ``x``,
        and for every ``p`` in [0, 1). What it does with a generator does not matter.

    Notes
    -----
    Chapter 09. A test tries a few inputs that can tell; it cannot try all.

    Examples
    --------
    >>> identity_in_evaluation(lambda x, p, rng=None: x.copy())
    True
    >>> identity_in_evaluation(lambda x, p, rng=None: x * (1 - p))
    False
    """
    x = np.array([[-1.5, 0.0, 0.25], [3.0, -0.5, 40.0]])
    for p in (0.0, 0.1, 0.5, 0.9, 0.999):
        given = x.copy()
        if not (np.array_equal(f(given, p), x) and np.array_equal(given, x)):
            return False
    return True


def residual(
    x: Float[np.ndarray, "*batch T D"],
    sublayer: Callable[[np.ndarray], np.ndarray],
    norm: Callable[[np.ndarray], np.ndarray],
    norm_first: bool,
) -> Float[np.ndarray, "*batch T D"]:
    r"""Add the change that a sublayer makes, in pre-norm or post-norm.

    .. math:: y = x + f(\mathrm{LN}(x)) \quad\text{(pre-norm)}, \qquad
        y = \mathrm{LN}(x + f(x)) \quad\text{(post-norm)}

    Parameters
    ----------
    x
        Token vectors; left unchanged.
    sublayer
        The function f, from token vectors to their change; it may give its input back.
    norm
        The function LN, from token vectors to token vectors.
    norm_first
        True for pre-norm, False for post-norm.

    Returns
    -------
    np.ndarray
        The new token vectors.

    Notes
    -----
    Chapter 10.

    Examples
    --------
    >>> square, centre = (lambda z: z * z), (lambda z: z - z.mean())
    >>> x = np.array([[1.0, 3.0]])
    >>> residual(x, square, centre, norm_first=True)
    array([[2., 4.]])
    >>> residual(x, square, centre, norm_first=False)
    array([[-5.,  5.]])
    """
    if norm_first:
        return x + sublayer(norm(x))
    return norm(x + sublayer(x))


def parameter_count(config: TextConfig) -> int:
    """Count the parameters of an encoder of texts by arithmetic: make no arrays.

    Parameters
    ----------
    config
        Its sizes: ``num_layers``, ``d_model``, ``d_ff``, ``vocab_size``,
        ``max_seq_len``, ``num_segments``; and ``norm_first``: in pre-norm a norm
        follows the last layer. Positions are learned.

    Returns
    -------
    int
        The number of parameters.

    Notes
    -----
    Chapter 11.

    Examples
    --------
    >>> from encoderlab.config import MINILM_L6
    >>> parameter_count(MINILM_L6)
    22565376
    """
    D, F = config.d_model, config.d_ff
    attention = 4 * D * D + 4 * D
    feed_forward = 2 * D * F + F + D
    layers = config.num_layers * (attention + feed_forward + 4 * D)
    rows = config.vocab_size + config.max_seq_len + config.num_segments
    final_norm = 2 * D if config.norm_first else 0
    return layers + rows * D + 2 * D + final_norm


def adam_step(
    theta: Float[np.ndarray, "*shape"],
    gradient: Float[np.ndarray, "*shape"],
    m: Float[np.ndarray, "*shape"],
    v: Float[np.ndarray, "*shape"],
    t: int,
    lr: float,
    betas: tuple[float, float],
    eps: float,
) -> tuple[
    Float[np.ndarray, "*shape"],
    Float[np.ndarray, "*shape"],
    Float[np.ndarray, "*shape"],
]:
    r"""Take one step of Adam for one array.

    .. math:: m \leftarrow \beta_1 m + (1 - \beta_1) \bar\theta, \quad
        v \leftarrow \beta_2 v + (1 - \beta_2) \bar\theta^2, \quad
        \theta \leftarrow \theta
        - \alpha \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    Parameters
    ----------
    theta
        The parameter; left unchanged, as are the next three.
    gradient
        Its gradient.
    m, v
        The running means of the gradient and of its square after step t - 1, not
        corrected; zeros before the first step.
    t
        Number of this step, counted from 1.
    lr
        Learning rate :math:`\alpha`.
    betas
        How much of m and of v a step keeps.
    eps
        Added to the root.

    Returns
    -------
    theta, m, v : np.ndarray
        All three after step t; m and v not corrected.

    Notes
    -----
    Kingma and Ba, 2015, algorithm 1. Chapter 13.

    Examples
    --------
    >>> zero = np.zeros(1)
    >>> theta, m, v = adam_step(np.ones(1), np.array([5.0]), zero, zero, t=1, lr=0.1,
    ...                         betas=(0.9, 0.999), eps=1e-8)
    >>> theta.round(4), m, v
    (array([0.9]), array([0.5]), array([0.025]))
    """
    beta_1, beta_2 = betas
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**t), v / (1 - beta_2**t)
    return theta - lr * m_hat / (np.sqrt(v_hat) + eps), m, v


def training_step(
    model: TokenClassifier,
    optimizer: SGD | Adam,
    images: Float[np.ndarray, "B C Y X"],
    targets: Int[np.ndarray, "B T"],
    factor: float,
    max_norm: float,
) -> np.floating:
    """Train a model on one batch of images, once.

    Parameters
    ----------
    model
        The classifier; its parameters are changed in place.
    optimizer
        What changes them, with ``optimizer.step(gradients, factor)``.
    images
        The batch, all that the model's encoder takes.
    targets
        The right class at each position; -100 does not count.
    factor
        What the schedule multiplies the learning rate by.
    max_norm
        The longest norm of all gradients together: longer ones are shortened before
        the optimiser gets them.

    Returns
    -------
    np.floating
        The loss, as it was before the change.

    Notes
    -----
    Chapter 13.

    Examples
    --------
    >>> from encoderlab.config import ImageConfig
    >>> from encoderlab.with_numpy.encoder import ImageEncoder
    >>> from encoderlab.with_numpy.parameters import parameters
    >>> config = ImageConfig(d_model=8, num_heads=2, d_ff=16, num_layers=1,
    ...                      image_size=4, patch_size=2)
    >>> rng = np.random.default_rng(0)
    >>> model = TokenClassifier(ImageEncoder(config, rng=rng), 10, rng=rng)
    >>> optimizer = SGD(parameters(model), lr=0.1)
    >>> images, targets = rng.standard_normal((3, 1, 4, 4)), np.full((3, 5), 7)
    >>> batch = images, targets
    >>> first, second = (
    ...     training_step(model, optimizer, *batch, factor=0.5, max_norm=1.0)
    ...     for _ in range(2)
    ... )
    >>> bool(second < first)
    True
    """
    loss, gradients = loss_and_gradients(model, (images,), targets)
    gradients, _ = clip_gradients(gradients, max_norm)
    optimizer.step(gradients, factor)
    return loss


def _require_rows(name, ids, table):
    # NumPy would take a negative id for a row counted from the end
    if ids.size and (ids.min() < 0 or ids.max() >= len(table)):
        raise ValueError(
            f"{name} must be from 0 to {len(table) - 1}, got {ids.min()} to {ids.max()}"
        )
