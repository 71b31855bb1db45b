"""From ids and pixels to vectors: token, position and segment tables, patches.

Shapes: B batch, T sequence length, D model width, N patches of an image, C channels.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from encoderlab.config import ImageConfig, TextConfig
from encoderlab.with_torch.dropout import dropout
from encoderlab.with_torch.masks import require_whole
from encoderlab.with_torch.normalization import LayerNorm
from encoderlab.with_torch.parameters import new_embedding, new_linear


def sinusoidal_positions(
    max_len: int, d_model: int, dtype: torch.dtype = torch.float32
) -> Float[Tensor, "T D"]:
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
    Tensor
        One row a position, values in [-1, 1].

    Raises
    ------
    TypeError
        If ``dtype`` is not floating.
    ValueError
        If ``max_len`` or ``d_model`` is below 1.

    Notes
    -----
    Vaswani and others, 2017, section 3.5. Chapters 06 and 14.

    Examples
    --------
    >>> sinusoidal_positions(2, 4)[1]
    tensor([0.8415, 0.5403, 0.0100, 0.9999])
    """
    if not dtype.is_floating_point:
        raise TypeError(f"dtype must be floating, got {dtype}")
    if max_len < 1 or d_model < 1:
        raise ValueError(
            f"max_len and d_model must be at least 1, got {max_len} and {d_model}"
        )
    columns = torch.arange(0, d_model, 2, dtype=torch.float64)
    frequencies = 10000.0 ** (-columns / d_model)
    angles = torch.arange(max_len)[:, None] * frequencies  # (T, D / 2, rounded up)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # sine, cosine, sine, ...
    return pairs.flatten(-2)[:, :d_model].to(dtype)


class TextEmbeddings(nn.Module):
    """Add the vectors of each token, its position and its segment, and normalise.

    Parameters
    ----------
    config
        Widths, the tables' sizes and the kind of positions.

    Attributes
    ----------
    token, position, segment : nn.Embedding
        Tables of ``vocab_size``, ``max_seq_len`` and ``num_segments`` rows;
        ``position`` is None unless the positions are learned.
    norm : LayerNorm
        Normalises the sum.

    Notes
    -----
    Devlin and others, 2019, section 3 and figure 2. Chapters 06 and 14.

    Examples
    --------
    >>> from encoderlab.config import TextConfig
    >>> config = TextConfig(d_model=4, num_heads=2, d_ff=8, num_layers=1, vocab_size=9,
    ...                     max_seq_len=5)
    >>> TextEmbeddings(config)(torch.tensor([[1, 7, 2]])).shape
    torch.Size([1, 3, 4])
    """

    def __init__(self, config: TextConfig):
        super().__init__()
        D = config.d_model
        self.token = new_embedding(config.vocab_size, D)
        learned = config.positions == "learned"
        self.position = new_embedding(config.max_seq_len, D) if learned else None
        self.segment = new_embedding(config.num_segments, D)
        self.norm = LayerNorm(D, config.eps)
        self.config = config

    def forward(
        self,
        token_ids: Int[Tensor, "B T"],
        segment_ids: Int[Tensor, "B T"] | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Look the tokens up.

        Parameters
        ----------
        token_ids
            Ids from 0 to ``vocab_size - 1``.
        segment_ids
            Ids from 0 to ``num_segments - 1``; None stands for zeros.

        Returns
        -------
        Tensor
            Token vectors; in training, dropout with ``config.dropout`` comes last.

        Raises
        ------
        TypeError
            If ids are not whole numbers.
        ValueError
            If there is no token, a sequence is longer than ``max_seq_len``, an id is
            out of range, or the shapes differ.
        """
        require_ids(self.config, token_ids, segment_ids)
        if segment_ids is None:
            segment_ids = torch.zeros_like(token_ids)
        x = self.token(token_ids) + self.segment(segment_ids)  # (B, T, D)
        x = add_positions(x, self.position, self.config.positions)
        return dropout(self.norm(x), self.config.dropout if self.training else 0.0)


def cut_patches(
    images: Float[Tensor, "B C Y X"], patch_size: int
) -> Float[Tensor, "B N P"]:
    """Cut images into square patches and lay each out as one vector.

    Parameters
    ----------
    images
        Pixel values, channels before rows before columns.
    patch_size
        Height and width p of a patch; divides those of the images.

    Returns
    -------
    Tensor
        The patches in rows from the top left, each of P = C p p values: channel by
        channel, row by row.

    Raises
    ------
    ValueError
        If ``patch_size`` does not divide the height and the width.

    Notes
    -----
    Dosovitskiy and others, 2021, section 3.1. Chapters 13 and 15.

    Examples
    --------
    >>> cut_patches(torch.arange(16.0).reshape(1, 1, 4, 4), 2)[0, 0]
    tensor([0., 1., 4., 5.])
    """
    B, C, Y, X = images.shape
    p = patch_size
    if p < 1 or Y % p or X % p:
        raise ValueError(
            f"patch_size must divide the images' height and width, got {p} for "
            f"{Y} x {X} pixels"
        )
    patches = images.reshape(B, C, Y // p, p, X // p, p)
    patches = patches.permute(0, 2, 4, 1, 3, 5)  # (B, Y / p, X / p, C, p, p)
    return patches.reshape(B, (Y // p) * (X // p), C * p * p)


class PatchEmbeddings(nn.Module):
    """Cut images into patches, map each to a vector, put a class token before them.

    Parameters
    ----------
    config
        Widths, the sizes of image and patch, and the kind of positions.

    Attributes
    ----------
    patch_proj : nn.Linear
        From the C p p values of a patch, channel by channel and row by row, to D.
    class_token : nn.Parameter
        The vector (D,) put before the patches.
    position : nn.Embedding
        Table of 1 + N rows, the class token's first; None unless the positions are
        learned.

    Notes
    -----
    Dosovitskiy and others, 2021, section 3.1. Chapters 13 and 15.

    Examples
    --------
    >>> from encoderlab.config import ImageConfig
    >>> config = ImageConfig(d_model=4, num_heads=2, d_ff=8, num_layers=1, image_size=8,
    ...                      patch_size=2)
    >>> PatchEmbeddings(config)(torch.zeros(3, 1, 8, 8)).shape
    torch.Size([3, 17, 4])
    """

    def __init__(self, config: ImageConfig):
        super().__init__()
        D = config.d_model
        self.patch_proj = new_linear(config.num_channels * config.patch_size**2, D)
        self.class_token = nn.Parameter(0.02 * torch.randn(D))
        learned = config.positions == "learned"
        self.position = new_embedding(1 + config.num_patches, D) if learned else None
        self.config = config

    def forward(self, images: Float[Tensor, "B C Y X"]) -> Float[Tensor, "B T D"]:
        """Turn images into sequences of 1 + N vectors.

        Parameters
        ----------
        images
            Pixel values, channels before rows before columns.

        Returns
        -------
        Tensor
            The class token's vector, then the patches' in rows from the top left; in
            training, dropout with ``config.dropout`` comes last.

        Raises
        ------
        ValueError
            If the images do not have the configured channels and size.
        """
        config = self.config
        require_images(config, images)
        x = self.patch_proj(cut_patches(images, config.patch_size))  # (B, N, D)
        # not len(x), which torch.export would take for a constant
        first = self.class_token.expand(x.shape[0], 1, -1)
        x = torch.cat([first, x], dim=1)  # (B, 1 + N, D)
        x = add_positions(x, self.position, config.positions)
        return dropout(x, config.dropout if self.training else 0.0)


def add_positions(
    x: Float[Tensor, "*batch T D"], table: nn.Embedding | None, kind: str
) -> Float[Tensor, "*batch T D"]:
    """Add to each vector of a sequence that of its position.

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
    Tensor
        The sums.

    Examples
    --------
    >>> add_positions(torch.zeros(1, 2, 2), None, "sinusoidal")
    tensor([[[0.0000, 1.0000],
             [0.8415, 0.5403]]])
    """
    T, D = x.shape[-2:]
    if table is not None:
        return x + table.weight[:T]
    if kind == "sinusoidal":
        return x + sinusoidal_positions(T, D, x.dtype).to(x.device)
    return x


def require_ids(
    config: TextConfig, token_ids: Tensor, segment_ids: Tensor | None = None
) -> None:
    """Refuse ids that the tables of a configuration do not hold.

    Parameters
    ----------
    config
        Sizes of the tables.
    token_ids, segment_ids
        As :class:`TextEmbeddings` takes them.

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
    >>> require_ids(config, torch.tensor([[1, 7, 2]]))
    """
    require_range("token_ids", token_ids, config.vocab_size)
    if token_ids.ndim != 2 or token_ids.shape[1] == 0:
        raise ValueError(
            "token_ids must have shape (B, T) with T at least 1, got "
            f"{tuple(token_ids.shape)}; for one sequence pass token_ids[None]"
        )
    if token_ids.shape[1] > config.max_seq_len:
        raise ValueError(
            f"the sequences have {token_ids.shape[1]} tokens, the longest allowed is "
            f"max_seq_len = {config.max_seq_len}; truncate them"
        )
    if segment_ids is None:
        return
    require_range("segment_ids", segment_ids, config.num_segments)
    if segment_ids.shape != token_ids.shape:
        raise ValueError(
            "segment_ids must have the shape of token_ids, expected "
            f"{tuple(token_ids.shape)}, got {tuple(segment_ids.shape)}"
        )


def require_images(config: ImageConfig, images: Tensor) -> None:
    """Refuse images that do not have the configured channels and size.

    Parameters
    ----------
    config
        Channels and size.
    images
        As :class:`PatchEmbeddings` takes them.

    Raises
    ------
    ValueError
        If they have another shape.

    Examples
    --------
    >>> config = ImageConfig(d_model=4, num_heads=2, d_ff=8, num_layers=1, image_size=8,
    ...                      patch_size=2)
    >>> require_images(config, torch.zeros(3, 1, 8, 8))
    """
    expected = (config.num_channels, config.image_size, config.image_size)
    if images.ndim != 4 or tuple(images.shape[1:]) != expected:
        raise ValueError(
            f"images must have shape (B, {', '.join(map(str, expected))}), got "
            f"{tuple(images.shape)}; for grey images add the channel axis, "
            "images[:, None]"
        )


def require_range(name: str, ids: Tensor, size: int) -> None:
    """Refuse ids that a table does not hold.

    Values are looked at on a CPU only: a GPU would have to wait for the answer, and a
    compiled graph cannot ask. There the lookup itself fails.

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
    >>> require_range("token_ids", torch.tensor([0, 2]), 3)
    """
    require_whole(name, ids)
    if torch.compiler.is_compiling() or not ids.is_cpu or ids.numel() == 0:
        return
    low, high = (int(extreme) for extreme in ids.aminmax())  # int8 would overflow
    if low < 0 or high >= size:
        raise ValueError(f"{name} must be from 0 to {size - 1}, got {low} to {high}")
