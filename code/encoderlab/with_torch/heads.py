"""What is put on top of an encoder to answer a question."""

from operator import attrgetter

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from encoderlab.with_torch.encoder import Encoder, TextEncoder
from encoderlab.with_torch.feed_forward import ACTIVATIONS
from encoderlab.with_torch.normalization import LayerNorm
from encoderlab.with_torch.parameters import new_linear


class TokenClassifier(nn.Module):
    """An encoder, and a linear map from each of its vectors to scores of classes.

    Parameters
    ----------
    encoder
        Any encoder; it becomes a part of the model and is trained with it.
    num_classes
        Number of classes, at least 1.

    Attributes
    ----------
    encoder : Encoder
        The encoder.
    classifier : nn.Linear
        The map.

    Raises
    ------
    TypeError
        If ``encoder`` is no encoder in PyTorch.
    ValueError
        If ``num_classes`` is below 1.

    Notes
    -----
    Devlin and others, 2019, section 4. Chapters 13 and 15.

    Examples
    --------
    >>> from encoderlab.config import TextConfig
    >>> from encoderlab.with_torch.encoder import TextEncoder
    >>> config = TextConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                     vocab_size=30, max_seq_len=16)
    >>> TokenClassifier(TextEncoder(config), 5)(torch.tensor([[3, 4, 9]])).shape
    torch.Size([1, 3, 5])
    """

    def __init__(self, encoder: Encoder, num_classes: int):
        super().__init__()
        _require_encoder(encoder, "config")
        if num_classes < 1:
            raise ValueError(f"num_classes must be at least 1, got {num_classes}")
        self.encoder = encoder
        self.classifier = new_linear(encoder.config.d_model, num_classes)

    def forward(self, *inputs, **options) -> Float[Tensor, "*batch T C"]:
        """Score the classes at every position.

        Parameters
        ----------
        inputs, options
            What the encoder takes.

        Returns
        -------
        Tensor
            Logits; softmax over the last axis makes probabilities of them.
        """
        return self.classifier(self.encoder(*inputs, **options).last_hidden_state)


class SequenceClassifier(TokenClassifier):
    """An encoder, and scores of classes from its first vector, for the whole sequence.

    The first is [CLS] in a text, the class token in an image. Parameters and attributes
    are those of :class:`TokenClassifier`.

    Notes
    -----
    Devlin and others, 2019, section 4.1; Dosovitskiy and others, 2021, section 3.1.
    Chapter 15.

    Examples
    --------
    >>> from encoderlab.config import ImageConfig
    >>> from encoderlab.with_torch.encoder import ImageEncoder
    >>> config = ImageConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                      image_size=8, patch_size=4)
    >>> SequenceClassifier(ImageEncoder(config), 10)(torch.zeros(3, 1, 8, 8)).shape
    torch.Size([3, 10])
    """

    def forward(self, *inputs, **options) -> Float[Tensor, "*batch C"]:
        """Score the classes of each sequence.

        Parameters
        ----------
        inputs, options
            What the encoder takes.

        Returns
        -------
        Tensor
            Logits.
        """
        states = self.encoder(*inputs, **options).last_hidden_state
        return self.classifier(states[..., 0, :])


class MaskedLanguageModel(nn.Module):
    r"""An encoder that guesses the token at each position.

    .. math:: \mathrm{logits} = \mathrm{LN}(f(x W + b)) \, E^\top + c

    with the activation f of the encoder's configuration and the token embeddings E,
    which are the encoder's own: the decoder is tied.

    Parameters
    ----------
    encoder
        An encoder of texts; it becomes a part of the model and is trained with it.

    Attributes
    ----------
    encoder : TextEncoder
        The encoder.
    transform : nn.Linear
        A map (D, D) before the guess.
    norm : LayerNorm
        After the activation, with the encoder's ``eps``.
    bias : nn.Parameter
        One number c for each token of the vocabulary: how common it is.

    Notes
    -----
    Devlin and others, 2019, section 3.1 and the published code; tying: Press and Wolf,
    2017. Chapter 16.

    Examples
    --------
    >>> from encoderlab.config import TextConfig
    >>> from encoderlab.with_torch.encoder import TextEncoder
    >>> config = TextConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                     vocab_size=30, max_seq_len=16)
    >>> MaskedLanguageModel(TextEncoder(config))(torch.tensor([[3, 4, 9]])).shape
    torch.Size([1, 3, 30])
    """

    def __init__(self, encoder: TextEncoder):
        super().__init__()
        _require_encoder(encoder, "config", "embeddings.token")
        config = encoder.config
        self.encoder = encoder
        self.transform = new_linear(config.d_model, config.d_model)
        self.norm = LayerNorm(config.d_model, config.eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, *inputs, **options) -> Float[Tensor, "*batch T V"]:
        """Score every token of the vocabulary at every position.

        Parameters
        ----------
        inputs, options
            What the encoder takes.

        Returns
        -------
        Tensor
            Logits.
        """
        return self.decode(self.encoder(*inputs, **options).last_hidden_state)

    def decode(self, states: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch V"]:
        """Score every token of the vocabulary for some vectors of the encoder.

        Parameters
        ----------
        states
            Vectors at the positions that are asked for: most of the work of a forward
            pass may be in scoring the others.

        Returns
        -------
        Tensor
            Logits.
        """
        hidden = ACTIVATIONS[self.encoder.config.activation](self.transform(states))
        table = self.encoder.embeddings.token.weight  # (V, D)
        return F.linear(self.norm(hidden), table, self.bias)


def _require_encoder(encoder, *needed):
    try:
        for name in needed:
            attrgetter(name)(encoder)
        fits = isinstance(encoder, nn.Module)
    except AttributeError:
        fits = False
    if not fits:
        raise TypeError(
            f"encoder must be a module with {' and '.join(needed)}, got "
            f"{type(encoder).__name__}; bridge.to_torch makes one of a NumPy encoder"
        )
