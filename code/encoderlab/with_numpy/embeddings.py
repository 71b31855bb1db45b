"""From ids and pixels to vectors: token, position and segment tables, patches.

Shapes: B batch, T sequence length, D model width, N patches of an image, C channels.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import DTypeLike

from encoderlab.config import ImageConfig, Positions, TextConfig
from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.functional import as_float, linear
from encoderlab.with_numpy.normalization import LayerNorm
from encoderlab.with_numpy.parameters import embedding_table, xavier_uniform, zeros


def sinusoidal_positions(
    max_len: int, d_model: int, dtype: DTypeLike = np.float32
) -> Float[np.ndarray, "T D"]:
    r"""Number the positions by the angles of clocks that turn at different speeds.

    .. math:: P_{t, 2i} = \sin(t \, \omega_i), \quad
        P_{t, 2i + 1} = \cos(t \, \omega_i), \quad \omega_i = 10000^{-2i / D}

    Parameters
    ----------
    max_len
        Number of positions, counted from 0; at least 1.
    d_model
        Width D, at least 1; if it is odd, the last column is a sine without its cosine.
    dtype
        Dtype of the result; the angles are always computed in float64.

    Returns
    -------
    np.ndarray
        One row a position, values in [-1, 1].

    Raises
    ------
    TypeError
        If ``dtype`` is not floating.
    ValueError
        If ``max_len`` or ``d_model`` is below 1.

    Notes
    -----
    Vaswani and others, 2017, section 3.5. Chapter 06.

    Examples
    --------
    >>> sinusoidal_positions(2, 4, np.float64)[1].round(6)
    array([0.841471, 0.540302, 0.01    , 0.99995 ])
    """
    if not np.issubdtype(np.dtype(dtype), np.floating):
        raise TypeError(f"dtype must be floating, got {np.dtype(dtype)}")
    if max_len < 1 or d_model < 1:
        raise ValueError(
            f"max_len and d_model must be at least 1, got {max_len} and {d_model}"
        )
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(max_len)[:, None] * frequencies  # (T, D / 2, rounded up)
    table = np.empty((max_len, d_model), dtype)
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)[:, : d_model // 2]
    return table


class TextEmbeddings:
    """Add the vectors of each token, its position and its segment, and normalise.

    Parameters
    ----------
    config
        Widths, the tables' sizes and the kind of positions.
    rng
        Source of the initial tables.

    Attributes
    ----------
    W_token, W_position, W_segment : np.ndarray
        Tables (vocab_size, D), (max_seq_len, D), (num_segments, D), one row an id;
        ``W_position`` is None unless the positions are learned.
    norm : LayerNorm
        Normalises the sum.

    Notes
    -----
    Devlin and others, 2019, section 3 and figure 2. Chapter 06.

    Examples
    --------
    >>> from encoderlab.config import TextConfig
    >>> config = TextConfig(d_model=4, num_heads=2, d_ff=8, num_layers=1, vocab_size=9,
    ...                     max_seq_len=5)
    >>> embeddings = TextEmbeddings(config, rng=np.random.default_rng(0))
    >>> embeddings(np.array([[1, 7, 2]])).shape
    (1, 3, 4)
    """

    def __init__(self, config: TextConfig, *, rng: np.random.Generator):
        D = config.d_model
        self.W_token = embedding_table(config.vocab_size, D, rng=rng)
        learned = config.positions == "learned"
        self.W_position = (
            embedding_table(config.max_seq_len, D, rng=rng) if learned else None
        )
        self.W_segment = embedding_table(config.num_segments, D, rng=rng)
        self.norm = LayerNorm(D, config.eps)
        self.config = config

    def __call__(
        self,
        token_ids: Int[np.ndarray, "B T"],
        segment_ids: Int[np.ndarray, "B T"] | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> Float[np.ndarray, "B T D"]:
        """Look the tokens up.

        Parameters
        ----------
        token_ids
            Ids from 0 to ``vocab_size - 1``.
        segment_ids
            Ids from 0 to ``num_segments - 1``; None stands for zeros.
        rng
            Source of dropout's randomness; None switches dropout off.

        Returns
        -------
        np.ndarray
            Token vectors.

        Raises
        ------
        TypeError
            If ids are not whole numbers.
        ValueError
            If there is no token, a sequence is longer than ``max_seq_len``, an id is
            out of range, or the shapes differ.
        """
        token_ids, segment_ids = require_ids(self.config, token_ids, segment_ids)
        x = self.W_token[token_ids] + self.W_segment[segment_ids]  # (B, T, D)
        x = x + positions_of(x, self.W_position, self.config.positions)
        return dropout(self.norm(x), self.config.dropout, rng)


def cut_patches(
    images: Float[np.ndarray, "B C Y X"], patch_size: int
) -> Float[np.ndarray, "B N P"]:
    """Cut images into square patches and lay each out as one vector.

    Parameters
    ----------
    images
        Pixel values, channels before rows before columns.
    patch_size
        Height and width p of a patch; divides those of the images.

    Returns
    -------
    np.ndarray
        The patches in rows from the top left, each of P = C p p values: channel by
        channel, row by row.

    Raises
    ------
    ValueError
        If ``patch_size`` does not divide the height and the width.

    Notes
    -----
    Dosovitskiy and others, 2021, section 3.1. Chapter 13.

    Examples
    --------
    >>> cut_patches(np.arange(16.0).reshape(1, 1, 4, 4), 2)[0, 0]
    array([0., 1., 4., 5.])
    """
    B, C, Y, X = images.shape
    p = patch_size
    if p < 1 or Y % p or X % p:
        raise ValueError(
            f"patch_size must divide the images' height and width, got {p} for "
            f"{Y} x {X} pixels"
        )
    patches = images.reshape(B, C, Y // p, p, X // p, p)
    patches = patches.transpose(0, 2, 4, 1, 3, 5)  # (B, Y / p, X / p, C, p, p)
    return patches.reshape(B, (Y // p) * (X // p), C * p * p)


class PatchEmbeddings:
    """Cut images into patches, map each to a vector, put a class token before them.

    Parameters
    ----------
    config
        Widths, the sizes of image and patch, and the kind of positions.
    rng
        Source of the initial weights.

    Attributes
    ----------
    W_patch, b_patch : np.ndarray
        Weights (C p p, D) and bias (D,) that map the p by p pixels of a patch, channel
        by channel and row by row.
    class_token : np.ndarray
        The vector (D,) put before the patches.
    W_position : np.ndarray
        Table (1 + N, D), the class token's row first; None unless the positions are
        learned.

    Notes
    -----
    Dosovitskiy and others, 2021, section 3.1. Chapters 13 and 15.

    Examples
    --------
    >>> from encoderlab.config import ImageConfig
    >>> config = ImageConfig(d_model=4, num_heads=2, d_ff=8, num_layers=1, image_size=8,
    ...                      patch_size=2)
    >>> embeddings = PatchEmbeddings(config, rng=np.random.default_rng(0))
    >>> embeddings(np.zeros((3, 1, 8, 8))).shape
    (3, 17, 4)
    """

    def __init__(self, config: ImageConfig, *, rng: np.random.Generator):
        D, pixels = config.d_model, config.num_channels * config.patch_size**2
        self.W_patch, self.b_patch = xavier_uniform(pixels, D, rng), zeros(D)
        self.class_token = embedding_table(D, rng=rng)
        learned = config.positions == "learned"
        self.W_position = (
            embedding_table(1 + config.num_patches, D, rng=rng) if learned else None
        )
        self.config = config

    def __call__(
        self,
        images: Float[np.ndarray, "B C Y X"],
        *,
        rng: np.random.Generator | None = None,
    ) -> Float[np.ndarray, "B T D"]:
        """Turn images into sequences of 1 + N vectors.

        Parameters
        ----------
        images
            Pixel values, channels before rows before columns.
        rng
            Source of dropout's randomness; None switches dropout off.

        Returns
        -------
        np.ndarray
            The class token's vector, then the patches' in rows from the top left.

        Raises
        ------
        ValueError
            If the images do not have the configured channels and size.
        """
        config = self.config
        images = require_images(config, images)
        patches = cut_patches(images, config.patch_size)  # (B, N, C p p)
        x = linear(patches, self.W_patch, self.b_patch)  # (B, N, D)
        first = np.broadcast_to(self.class_token, (len(x), 1, config.d_model))
        x = np.concatenate([first, x], axis=1)  # (B, 1 + N, D)
        x = x + positions_of(x, self.W_position, config.positions)
        return dropout(x, config.dropout, rng)


def positions_of(
    x: Float[np.ndarray, "*batch T D"],
    table: Float[np.ndarray, "N D"] | None,
    kind: Positions,
) -> Float[np.ndarray, "..."]:
    """Give the vectors to add to a sequence, one a position.

    Parameters
    ----------
    x
        Token vectors.
    table
        The learned vectors; None for the other kinds.
    kind
        ``learned``, ``sinusoidal`` or ``none``.

    Returns
    -------
    np.ndarray
        The first T rows of the table, the sinusoids, or 0.

    Examples
    --------
    >>> positions_of(np.ones((1, 2, 2)), np.array([[1.0, 2.0]] * 9), "learned")
    array([[1., 2.],
           [1., 2.]])
    """
    T, D = x.shape[-2:]
    if table is not None:
        return table[:T]
    if kind == "sinusoidal":
        return sinusoidal_positions(T, D, x.dtype)
    return np.zeros((), x.dtype)


def require_ids(
    config: TextConfig, token_ids: np.ndarray, segment_ids: np.ndarray | None = None
) -> tuple[Int[np.ndarray, "B T"], Int[np.ndarray, "B T"]]:
    """Refuse ids that the tables of a configuration do not hold.

    Parameters
    ----------
    config
        Sizes of the tables.
    token_ids, segment_ids
        As :class:`TextEmbeddings` takes them.

    Returns
    -------
    token_ids, segment_ids : np.ndarray
        The ids as arrays; zeros for segments that are None.

    Raises
    ------
    TypeError
        If ids are not whole numbers.
    ValueError
        If there is no token, a sequence is longer than ``max_seq_len``, an id is out
        of range, or the shapes differ.

    Examples
    --------
    >>> config = TextConfig(d_model=4, num_heads=2, d_ff=8, num_layers=1, vocab_size=9,
    ...                     max_seq_len=5)
    >>> require_ids(config, np.array([[1, 7, 2]]))[1]
    array([[0, 0, 0]])
    """
    token_ids = np.asarray(token_ids)
    require_range("token_ids", token_ids, config.vocab_size)
    if token_ids.ndim != 2 or token_ids.shape[1] == 0:
        raise ValueError(
            "token_ids must have shape (B, T) with T at least 1, got "
            f"{token_ids.shape}; for one sequence pass token_ids[None]"
        )
    seq_len = token_ids.shape[1]
    if seq_len > config.max_seq_len:
        raise ValueError(
            f"the sequences have {seq_len} tokens, the longest allowed is "
            f"max_seq_len = {config.max_seq_len}; truncate them"
        )
    if segment_ids is None:
        segment_ids = np.zeros_like(token_ids)
    segment_ids = np.asarray(segment_ids)
    require_range("segment_ids", segment_ids, config.num_segments)
    if segment_ids.shape != token_ids.shape:
        raise ValueError(
            "segment_ids must have the shape of token_ids, expected "
            f"{token_ids.shape}, got {segment_ids.shape}"
        )
    return token_ids, segment_ids


def require_images(
    config: ImageConfig, images: np.ndarray
) -> Float[np.ndarray, "B C Y X"]:
    """Refuse images that do not have the configured channels and size.

    Parameters
    ----------
    config
        Channels and size.
    images
        As :class:`PatchEmbeddings` takes them.

    Returns
    -------
    np.ndarray
        The images, in a floating dtype.

    Raises
    ------
    TypeError
        If the values are not real numbers.
    ValueError
        If they have another shape.

    Examples
    --------
    >>> config = ImageConfig(d_model=4, num_heads=2, d_ff=8, num_layers=1, image_size=8,
    ...                      patch_size=2)
    >>> require_images(config, np.zeros((3, 1, 8, 8), int)).dtype
    dtype('float64')
    """
    images = as_float(images)
    expected = (config.num_channels, config.image_size, config.image_size)
    if images.ndim != 4 or images.shape[1:] != expected:
        raise ValueError(
            f"images must have shape (B, {', '.join(map(str, expected))}), got "
            f"{images.shape}; for grey images add the channel axis, images[:, None]"
        )
    return images


def require_range(name: str, ids: np.ndarray, size: int) -> None:
    """Refuse ids that a table does not hold.

    Parameters
    ----------
    name
        What the message calls them.
    ids
        The ids.
    size
        Rows of the table.

    Raises
    ------
    TypeError
        If they are not whole numbers.
    ValueError
        If one is negative or too large.

    Examples
    --------
    >>> require_range("token_ids", np.array([0, 2]), 3)
    """
    if not np.issubdtype(ids.dtype, np.integer):
        raise TypeError(f"{name} must be whole numbers, got {ids.dtype}")
    # NumPy would take a negative id for a row counted from the end
    if ids.size and (ids.min() < 0 or ids.max() >= size):
        raise ValueError(
            f"{name} must be from 0 to {size - 1}, got {ids.min()} to {ids.max()}"
        )
