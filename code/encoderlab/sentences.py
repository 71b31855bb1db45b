"""Sentences as vectors: encode, average the tokens of each, bring to length 1."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from tqdm import tqdm

from encoderlab.pretrained import WordPiece
from encoderlab.pretrained.wordpiece import require_max_length, require_texts

MANY_BATCHES = 8


class SentenceEncoder:
    """Any text encoder with a tokenizer: sentences in, vectors of length 1 out.

    The dot product of two such vectors is their cosine similarity.

    Parameters
    ----------
    encoder
        Called as ``encoder(token_ids, attention_mask, segment_ids=...)`` with int64
        arrays (N, T), or tensors of that kind if it is a PyTorch module; the mask has 1
        for a token and 0 for padding. Returns an object whose ``last_hidden_state`` is
        an array or tensor (N, T, D).
    tokenizer
        Turns sentences into ids.
    max_length
        Most tokens of a sentence, [CLS] and [SEP] included; longer ones are cut.

    Raises
    ------
    TypeError
        If ``max_length`` is not a whole number.
    ValueError
        If ``max_length`` is below 2 or above what the encoder's positions can number.

    Notes
    -----
    Reimers and Gurevych, 2019. MiniLM was trained with at most 128 tokens, its
    sentence configuration cuts at 256 and its positions end at 512: 256 is meant here.
    Chapters 11 and 18.
    """

    def __init__(
        self,
        encoder: Callable[..., Any],
        tokenizer: WordPiece,
        max_length: int = 256,
    ):
        require_max_length(max_length)
        limit = getattr(getattr(encoder, "config", None), "max_seq_len", None)
        if limit is not None and max_length > limit:
            raise ValueError(
                f"max_length must be at most the encoder's max_seq_len, {limit}, got "
                f"{max_length}; give max_length={limit} or less"
            )
        self.encoder = encoder
        self.tokenizer = tokenizer
        self.max_length = max_length

    def encode(
        self,
        texts: Sequence[str],
        *,
        batch_size: int = 32,
        progress: bool | None = None,
    ) -> Float[np.ndarray, "N D"]:
        """Embed sentences.

        Parameters
        ----------
        texts
            At least one sentence; an empty string is one too.
        batch_size
            Sentences that go through the encoder together, at least 1. Sentences of
            about the same length do, which saves padding.
        progress
            Whether to show a progress bar on the error stream; None shows one for more
            than 8 batches.

        Returns
        -------
        np.ndarray
            float32, one row of length 1 for each text, in the order of the texts.

        Raises
        ------
        TypeError
            If ``texts`` is not a list of strings.
        ValueError
            If ``texts`` is empty, ``batch_size`` is below 1, the encoder's result does
            not have one vector for each token, or a PyTorch encoder is in training
            mode.
        """
        require_texts(texts)
        if not isinstance(batch_size, int | np.integer) or batch_size < 1:
            raise ValueError(
                f"batch_size must be a whole number of at least 1, got {batch_size!r}"
            )
        ids = [self.tokenizer.encode(text, self.max_length) for text in texts]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]), reverse=True)
        starts = range(0, len(texts), batch_size)
        show = len(starts) > MANY_BATCHES if progress is None else progress
        rows = []
        for start in tqdm(starts, desc="batches", disable=not show):
            batch = [ids[i] for i in order[start : start + batch_size]]
            rows.append(self._embed(*self.tokenizer.pad(batch)))
        return np.concatenate(rows)[np.argsort(order)]

    def _embed(self, token_ids, mask, segment_ids) -> Float[np.ndarray, "N D"]:
        hidden = self._hidden(token_ids, mask, segment_ids)  # (N, T, D)
        if hidden.ndim != 3 or hidden.shape[:2] != token_ids.shape:
            raise ValueError(
                "the encoder's last_hidden_state must have one vector for each token, "
                f"expected shape {token_ids.shape} and a width, got {hidden.shape}"
            )
        kept = np.where(mask[:, :, None] == 1, hidden, 0.0)
        total = kept.sum(axis=1, dtype=np.float64)  # (N, D)
        mean = total / mask.sum(axis=1, keepdims=True)
        length = np.linalg.norm(mean, axis=1, keepdims=True)
        # As sentence-transformers does, so that a zero vector stays one.
        return (mean / np.maximum(length, 1e-12)).astype(np.float32)

    def _hidden(self, token_ids, mask, segment_ids) -> Float[np.ndarray, "N T D"]:
        torch = sys.modules.get("torch")  # not imported for encoders that do without
        if torch is None or not isinstance(self.encoder, torch.nn.Module):
            output = self.encoder(token_ids, mask, segment_ids=segment_ids)
            return np.asarray(output.last_hidden_state)
        if self.encoder.training:
            raise ValueError(
                "encoder must not be in training mode, where dropout makes its vectors "
                "random; call encoder.eval() first"
            )
        device = next(self.encoder.parameters()).device
        token_ids, mask, segment_ids = (
            torch.from_numpy(array).to(device)
            for array in (token_ids, mask, segment_ids)
        )
        with torch.inference_mode():
            output = self.encoder(token_ids, mask, segment_ids=segment_ids)
        return output.last_hidden_state.float().cpu().numpy()
