"""Make masks.npz: one attention under a padding mask, as other libraries compute it.

usage: make_masks.py [FILE]      (default: masks.npz beside this script)

Every layer gets identity projections and one head, so that it is plain attention of x.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import BertConfig
from transformers.masking_utils import create_bidirectional_mask
from transformers.models.bert.modeling_bert import BertSelfAttention

B, T, D = 2, 5, 4
LENGTHS = np.array([4, 2])


def sdpa(x, allowed):
    """F.scaled_dot_product_attention, with the mask as it is given."""
    return scaled_dot_product_attention(x, x, x, attn_mask=allowed[:, None, :])


def mha(x, hidden):
    """nn.MultiheadAttention, whose mask says what is hidden."""
    layer = torch.nn.MultiheadAttention(D, 1, batch_first=True, dtype=x.dtype)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(D).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(D))
    return layer(x, x, x, key_padding_mask=hidden)[0]


def bert(x, attention_mask):
    """The self-attention of Hugging Face's BERT, computed without SDPA ("eager")."""
    config = BertConfig(
        hidden_size=D, num_attention_heads=1, attn_implementation="eager"
    )
    layer = BertSelfAttention(config).to(x.dtype).eval()
    with torch.no_grad():
        for linear in (layer.query, layer.key, layer.value):
            linear.weight.copy_(torch.eye(D))
            linear.bias.zero_()
    mask = create_bidirectional_mask(
        config=config, inputs_embeds=x, attention_mask=attention_mask
    )
    return layer(x, mask)[0]


def main():
    file = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("masks.npz")
    x = torch.from_numpy(1.5 * np.random.default_rng(0).standard_normal((B, T, D)))
    allowed = torch.from_numpy(np.arange(T) < LENGTHS[:, None])
    nothing = allowed.clone()
    nothing[1] = False
    outputs = {
        "sdpa": sdpa(x, allowed),
        "sdpa_numbers": sdpa(x, allowed.to(x.dtype)),
        "mha": mha(x, ~allowed),
        "mha_same": mha(x, allowed),
        "bert": bert(x, allowed.long()),
        "sdpa_nothing": sdpa(x, nothing),
        "mha_nothing": mha(x, ~nothing),
        "bert_nothing": bert(x, nothing.long()),
    }
    arrays = {name: y.detach().numpy() for name, y in outputs.items()}
    np.savez(file, x=x.numpy(), lengths=LENGTHS, **arrays)


if __name__ == "__main__":
    main()
