"""Backward passes of the embeddings: where an id occurs twice, its gradients add up."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from encoderlab.with_numpy.embeddings import (
    PatchEmbeddings,
    TextEmbeddings,
    cut_patches,
    positions_of,
    require_ids,
    require_images,
    require_range,
)
from encoderlab.with_numpy.gradients.chain import require_upstream
from encoderlab.with_numpy.gradients.dropout import dropout_vjp
from encoderlab.with_numpy.gradients.functional import linear_vjp
from encoderlab.with_numpy.gradients.normalization import norm_vjp


def embedding_vjp(
    table: Float[np.ndarray, "V D"], ids: Int[np.ndarray, "*batch"]
) -> tuple[Float[np.ndarray, "*batch D"], Callable]:
    r"""Look rows of a table up; keep the way back.

    .. math:: \bar W_v = \sum_{n: \, t_n = v} \bar y_n

    Parameters
    ----------
    table
        One row an id.
    ids
        Ids from 0 to V - 1.

    Returns
    -------
    rows : np.ndarray
        The row of each id.
    backward : Callable
        From the gradient of the rows to that of the table: zeros for ids that did not
        occur, a sum for those that did several times.

    Raises
    ------
    TypeError
        If the ids are not whole numbers.
    ValueError
        If one is out of range.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> rows, backward = embedding_vjp(np.zeros((3, 1)), np.array([1, 1, 1]))
    >>> backward(np.array([[1.0], [2.0], [3.0]]))
    array([[0.],
           [6.],
           [0.]])
    """

    ids = np.asarray(ids)
    require_range("ids", ids, len(table))
    rows = table[ids]

    def backward(d_rows):
        require_upstream(d_rows, rows)
        d_table = np.zeros(table.shape, d_rows.dtype)
        np.add.at(d_table, ids, d_rows)  # d_table[ids] += would keep only one of each
        return d_table

    return rows, backward


def text_embeddings_vjp(
    layer: TextEmbeddings,
    token_ids: Int[np.ndarray, "B T"],
    segment_ids: Int[np.ndarray, "B T"] | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "B T D"], Callable]:
    """Look tokens up as text embeddings do; keep the way back.

    Parameters
    ----------
    layer
        The layer.
    token_ids, segment_ids, rng
        As in the layer's call.

    Returns
    -------
    x : np.ndarray
        Token vectors.
    backward : Callable
        From the gradient of ``x`` to None, since ids have no gradient, and, by name,
        those of the parameters.

    Raises
    ------
    TypeError, ValueError
        As the layer does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> from encoderlab.config import TextConfig
    >>> config = TextConfig(d_model=4, num_heads=2, d_ff=8, num_layers=1, vocab_size=9,
    ...                     max_seq_len=5)
    >>> layer = TextEmbeddings(config, rng=np.random.default_rng(0))
    >>> x, backward = text_embeddings_vjp(layer, np.array([[1, 7, 2]]))
    >>> nothing, gradients = backward(np.ones((1, 3, 4)))
    >>> gradients["W_token"].shape
    (9, 4)
    """
    config = layer.config
    token_ids, segment_ids = require_ids(config, token_ids, segment_ids)
    tokens, to_token_table = embedding_vjp(layer.W_token, token_ids)  # (B, T, D)
    segments, to_segment_table = embedding_vjp(layer.W_segment, segment_ids)
    x = tokens + segments
    x = x + positions_of(x, layer.W_position, config.positions)
    x, through_norm = norm_vjp(layer.norm, x)
    x, through_dropout = dropout_vjp(x, config.dropout, rng)

    def backward(d_x):
        d_sum, d_norm = through_norm(through_dropout(d_x))  # (B, T, D)
        gradients = {"norm." + name: array for name, array in d_norm.items()}
        gradients["W_token"] = to_token_table(d_sum)
        gradients["W_segment"] = to_segment_table(d_sum)
        gradients |= _of_positions(layer.W_position, d_sum)
        return None, gradients

    return x, backward


def patch_embeddings_vjp(
    layer: PatchEmbeddings,
    images: Float[np.ndarray, "B C Y X"],
    *,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "B T D"], Callable]:
    """Turn images into sequences as patch embeddings do; keep the way back.

    Parameters
    ----------
    layer
        The layer, whose arrays the way back reads: change them only after it was used.
    images, rng
        As in the layer's call.

    Returns
    -------
    x : np.ndarray
        The class token's vector, then the patches'.
    backward : Callable
        From the gradient of ``x`` to that of the images and, by name, of the
        parameters.

    Raises
    ------
    ValueError
        As the layer does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> from encoderlab.config import ImageConfig
    >>> config = ImageConfig(d_model=4, num_heads=2, d_ff=8, num_layers=1, image_size=8,
    ...                      patch_size=2)
    >>> layer = PatchEmbeddings(config, rng=np.random.default_rng(0))
    >>> x, backward = patch_embeddings_vjp(layer, np.zeros((3, 1, 8, 8)))
    >>> d_images, gradients = backward(np.ones((3, 17, 4)))
    >>> gradients["class_token"]  # each of the three images begins with it
    array([3., 3., 3., 3.])
    """
    config, p = layer.config, layer.config.patch_size
    images = require_images(config, images)
    patches = cut_patches(images, p)  # (B, N, C p p)
    x, through_W_patch = linear_vjp(patches, layer.W_patch, layer.b_patch)
    first = np.broadcast_to(layer.class_token, (len(x), 1, config.d_model))
    x = np.concatenate([first, x], axis=1)  # (B, 1 + N, D)
    x = x + positions_of(x, layer.W_position, config.positions)
    x, through_dropout = dropout_vjp(x, config.dropout, rng)

    def backward(d_x):
        d_sum = through_dropout(d_x)  # (B, 1 + N, D)
        d_patches, d_W_patch, d_b_patch = through_W_patch(d_sum[:, 1:])
        gradients = {"W_patch": d_W_patch, "b_patch": d_b_patch}
        gradients["class_token"] = d_sum[:, 0].sum(axis=0)
        gradients |= _of_positions(layer.W_position, d_sum)
        B, C, Y, X = images.shape
        d_images = d_patches.reshape(B, Y // p, X // p, C, p, p)
        return d_images.transpose(0, 3, 1, 4, 2, 5).reshape(images.shape), gradients

    return x, backward


def _of_positions(table, d_x):
    """The gradient of learned positions: every sequence of the batch adds to it."""
    if table is None:
        return {}
    d_table = np.zeros(table.shape, d_x.dtype)
    d_table[: d_x.shape[1]] = d_x.sum(axis=0)
    return {"W_position": d_table}
