"""The backward pass, written by hand: a ``name_vjp`` for every operation.

A vjp computes what its forward function does and returns, beside the output, the way
back: a function from the gradient of the output to those of the inputs, in their order.
Of a layer it is the gradient of the input and a dictionary of its parameters', named as
:func:`encoderlab.with_numpy.parameters.parameters` names them. In the equations a bar
marks the gradient of the loss with respect to a quantity; in the code it is ``d_x``
for ``x``. The files mirror the forward ones.

A way back keeps the arrays of the forward pass themselves, not copies: change inputs,
outputs and parameters only after it was used.
"""

from encoderlab.with_numpy.gradients.attention import (
    attention_vjp,
    merge_heads_vjp,
    multi_head_attention_vjp,
    split_heads_vjp,
)
from encoderlab.with_numpy.gradients.chain import chain, named
from encoderlab.with_numpy.gradients.check import check_gradient
from encoderlab.with_numpy.gradients.dropout import dropout_vjp
from encoderlab.with_numpy.gradients.embeddings import (
    embedding_vjp,
    patch_embeddings_vjp,
    text_embeddings_vjp,
)
from encoderlab.with_numpy.gradients.encoder import (
    encoder_vjp,
    image_encoder_vjp,
    text_encoder_vjp,
)
from encoderlab.with_numpy.gradients.encoder_layer import (
    encoder_layer_vjp,
    residual_vjp,
)
from encoderlab.with_numpy.gradients.feed_forward import feed_forward_vjp
from encoderlab.with_numpy.gradients.functional import (
    gelu_tanh_vjp,
    gelu_vjp,
    linear_vjp,
    log_softmax_vjp,
    masked_softmax_vjp,
    relu_vjp,
    silu_vjp,
    softmax_vjp,
)
from encoderlab.with_numpy.gradients.heads import token_classifier_vjp
from encoderlab.with_numpy.gradients.loss import cross_entropy_vjp
from encoderlab.with_numpy.gradients.normalization import (
    layer_norm_vjp,
    norm_vjp,
    rms_norm_vjp,
)
from encoderlab.with_numpy.gradients.pooling import mean_pool_vjp

__all__ = [
    "attention_vjp",
    "chain",
    "check_gradient",
    "cross_entropy_vjp",
    "dropout_vjp",
    "embedding_vjp",
    "encoder_layer_vjp",
    "encoder_vjp",
    "feed_forward_vjp",
    "gelu_tanh_vjp",
    "gelu_vjp",
    "image_encoder_vjp",
    "layer_norm_vjp",
    "linear_vjp",
    "log_softmax_vjp",
    "masked_softmax_vjp",
    "mean_pool_vjp",
    "merge_heads_vjp",
    "multi_head_attention_vjp",
    "named",
    "norm_vjp",
    "patch_embeddings_vjp",
    "relu_vjp",
    "residual_vjp",
    "rms_norm_vjp",
    "silu_vjp",
    "softmax_vjp",
    "split_heads_vjp",
    "text_embeddings_vjp",
    "text_encoder_vjp",
    "token_classifier_vjp",
]
