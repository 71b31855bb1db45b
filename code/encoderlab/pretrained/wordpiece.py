"""WordPiece, BERT's tokenizer: text is normalised, split into words, cut into pieces.

Three functions take one step each; :class:`WordPiece` joins them with a vocabulary.
"""

import re
import unicodedata
from collections.abc import Container, Iterable, Sequence

import numpy as np
from jaxtyping import Int

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MAX_WORD_CHARS = 100

# BERT's blocks of ideographs, as the `tokenizers` library has them: there the sixth
# starts at 2B920, in BERT's first code at 2B820.
IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_SPECIAL = re.compile(f"({'|'.join(map(re.escape, SPECIAL_TOKENS))})")
_SURROGATE = re.compile("[\ud800-\udfff]")


def normalize(text: str) -> str:
    """Reduce text to the plain form in which the vocabulary was made.

    Control and format characters go, every kind of white space becomes a space, spaces
    set ideographs apart, letters lose their accents and become small.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    str
        The normalised text.

    Raises
    ------
    TypeError
        If ``text`` is not a string.
    ValueError
        If ``text`` holds half of a surrogate pair, which is no character.

    Notes
    -----
    Devlin and others, 2019, "uncased", in the published code. Chapters 06 and 18.

    Examples
    --------
    >>> normalize("Crème\\tBRÛLÉE 東京")
    'creme brulee  東  京 '
    """
    _require_text(text)
    cleaned = "".join(_clean(char) for char in text)
    decomposed = unicodedata.normalize("NFD", cleaned)  # é -> e and an accent
    # Each letter alone: str.lower on the whole would end a Greek word in a final sigma.
    return "".join(
        char.lower() for char in decomposed if unicodedata.category(char) != "Mn"
    )


def split_words(text: str) -> list[str]:
    """Split at white space, and make each punctuation mark a word of its own.

    Parameters
    ----------
    text
        Normalised text.

    Returns
    -------
    list of str
        The words, none of them empty.

    Raises
    ------
    TypeError
        If ``text`` is not a string.
    ValueError
        If ``text`` holds half of a surrogate pair, which is no character.

    Notes
    -----
    All of ASCII that can be seen and is no letter or digit counts as punctuation, ``$``
    and ``+`` too, which are symbols in Unicode. Devlin and others, 2019, in the
    published code. Chapters 06 and 18.

    Examples
    --------
    >>> split_words("it's 5$.")
    ['it', "'", 's', '5', '$', '.']
    """
    _require_text(text)
    spaced = (f" {char} " if _is_punctuation(char) else char for char in text)
    return "".join(spaced).split()


def match_pieces(word: str, vocab: Container[str]) -> list[str]:
    """Cut a word into pieces: each time the longest one in the vocabulary.

    Parameters
    ----------
    word
        One word, as :func:`split_words` gives it.
    vocab
        The known pieces; one that continues a word starts with ``##``.

    Returns
    -------
    list of str
        The pieces; ``["[UNK]"]`` if some part of the word matches none, or the word has
        more than 100 characters.

    Notes
    -----
    Devlin and others, 2019, in the published code; the idea of word pieces: Wu and
    others, 2016, section 4.1. Chapters 06 and 18.

    Examples
    --------
    >>> match_pieces("unseen", {"un", "uns", "##een", "##seen"})
    ['uns', '##een']
    """
    if len(word) > MAX_WORD_CHARS:
        return ["[UNK]"]
    pieces: list[str] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                pieces.append(piece)
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces


class WordPiece:
    """A tokenizer for uncased BERT: text to token ids, and back to tokens.

    Parameters
    ----------
    vocab
        The tokens in the order of their ids, the five of ``SPECIAL_TOKENS`` among them.

    Attributes
    ----------
    vocab : list of str
        Token of each id.
    ids : dict
        Id of each token.
    pad_id, unk_id, cls_id, sep_id, mask_id : int
        Ids of the special tokens.

    Raises
    ------
    TypeError
        If ``vocab`` is a single string.
    ValueError
        If ``vocab`` lacks a special token or has a token twice.

    Notes
    -----
    A special token written out in a text, such as ``[MASK]``, is taken as that token.
    The ids equal those of the ``tokenizers`` library for all characters but some rare
    ones: its table of categories is that of Unicode 8 (2015), Python's ``unicodedata``
    has a later one, so that a mark, a format character or a punctuation mark added
    since is taken for a letter there, and for what it is here. Chapters 06 and 18.

    Examples
    --------
    >>> tokenizer = WordPiece([*SPECIAL_TOKENS, "token", "##ize", "!"])
    >>> tokenizer.tokenize("Tokenize!")
    ['token', '##ize', '!']
    >>> tokenizer.encode("Tokenize!")
    [2, 5, 6, 7, 3]
    """

    def __init__(self, vocab: Sequence[str]):
        if isinstance(vocab, str):
            raise TypeError("vocab must be a list of tokens, got a single string")
        self.vocab = list(vocab)
        self.ids = {token: i for i, token in enumerate(self.vocab)}
        if len(self.ids) < len(self.vocab):
            twice = next(t for i, t in enumerate(self.vocab) if self.ids[t] != i)
            raise ValueError(f"vocab must hold a token once, got {twice!r} twice")
        missing = [token for token in SPECIAL_TOKENS if token not in self.ids]
        if missing:
            raise ValueError(
                f"vocab must hold the special tokens {', '.join(SPECIAL_TOKENS)}; it "
                f"lacks {', '.join(missing)}: add them"
            )
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (
            self.ids[token] for token in SPECIAL_TOKENS
        )

    def tokenize(self, text: str) -> list[str]:
        """Cut a text into tokens.

        Parameters
        ----------
        text
            Any text, the empty one too.

        Returns
        -------
        list of str
            The tokens, with no [CLS] or [SEP] added.

        Raises
        ------
        TypeError
            If ``text`` is not a string.
        ValueError
            If ``text`` holds half of a surrogate pair, which is no character.
        """
        _require_text(text)
        tokens: list[str] = []
        for part in _SPECIAL.split(text):
            if part in SPECIAL_TOKENS:
                tokens.append(part)
            else:
                for word in split_words(normalize(part)):
                    tokens += match_pieces(word, self.ids)
        return tokens

    def encode(self, text: str, max_length: int | None = None) -> list[int]:
        """Turn a text into token ids, [CLS] before and [SEP] after.

        Parameters
        ----------
        text
            Any text; the empty one gives [CLS] and [SEP].
        max_length
            Most ids, [CLS] and [SEP] included; at least 2. A longer text is cut, and
            still ends in [SEP]. None cuts nothing.

        Returns
        -------
        list of int
            The ids.

        Raises
        ------
        TypeError
            If ``text`` is not a string, or ``max_length`` no whole number.
        ValueError
            If ``text`` holds half of a surrogate pair, which is no character, or
            ``max_length`` is below 2.
        """
        inner = [self.ids[token] for token in self.tokenize(text)]
        if max_length is not None:
            require_max_length(max_length)
            del inner[max_length - 2 :]
        return [self.cls_id, *inner, self.sep_id]

    def pad(
        self, rows: Sequence[list[int]]
    ) -> tuple[Int[np.ndarray, "B T"], Int[np.ndarray, "B T"], Int[np.ndarray, "B T"]]:
        """Put sequences of ids into arrays, padded to the longest of them.

        Parameters
        ----------
        rows
            At least one sequence, as :meth:`encode` gives them.

        Returns
        -------
        token_ids, attention_mask, segment_ids : np.ndarray
            As :meth:`batch` gives them.
        """
        shape = (len(rows), max(map(len, rows)))
        token_ids = np.full(shape, self.pad_id, np.int64)
        attention_mask = np.zeros(shape, np.int64)
        for i, row in enumerate(rows):
            token_ids[i, : len(row)] = row
            attention_mask[i, : len(row)] = 1
        return token_ids, attention_mask, np.zeros(shape, np.int64)

    def batch(
        self, texts: Sequence[str], max_length: int
    ) -> tuple[Int[np.ndarray, "B T"], Int[np.ndarray, "B T"], Int[np.ndarray, "B T"]]:
        """Turn texts into arrays of ids, padded to the longest of them.

        Parameters
        ----------
        texts
            At least one text.
        max_length
            Most tokens of a text, [CLS] and [SEP] included; at least 2. Longer texts
            are cut, and still end in [SEP].

        Returns
        -------
        token_ids : np.ndarray
            int64; [PAD] fills the shorter texts.
        attention_mask : np.ndarray
            int64; 1 for a token, 0 for padding.
        segment_ids : np.ndarray
            int64; all 0, since each text is one segment.

        Raises
        ------
        TypeError
            If ``texts`` is not a list of strings, or ``max_length`` no whole number.
        ValueError
            If there is no text, one holds half of a surrogate pair, or ``max_length``
            is below 2.

        Examples
        --------
        >>> tokenizer = WordPiece([*SPECIAL_TOKENS, "a", "b"])
        >>> token_ids, attention_mask, _ = tokenizer.batch(["a b a b", "a"], 5)
        >>> token_ids
        array([[2, 5, 6, 5, 3],
               [2, 5, 3, 0, 0]])
        >>> attention_mask
        array([[1, 1, 1, 1, 1],
               [1, 1, 1, 0, 0]])
        """
        require_texts(texts)
        require_max_length(max_length)  # None, too: a batch is always cut
        return self.pad([self.encode(text, max_length) for text in texts])

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Name the tokens of ids.

        Parameters
        ----------
        ids
            Token ids of one text: a list or an array with one axis.

        Returns
        -------
        list of str
            Their tokens.

        Raises
        ------
        TypeError
            If an id is not a whole number.
        ValueError
            If an id is outside the vocabulary.

        Examples
        --------
        >>> WordPiece([*SPECIAL_TOKENS, "a"]).tokens(np.array([2, 5, 3]))
        ['[CLS]', 'a', '[SEP]']
        """
        named = []
        for i in ids:
            if isinstance(i, bool) or not isinstance(i, int | np.integer):
                raise TypeError(
                    f"ids must be a text's whole numbers, got {i!r:.60} among them; of "
                    "several texts give one at a time"
                )
            if not 0 <= i < len(self.vocab):
                raise ValueError(
                    f"ids must be from 0 to {len(self.vocab) - 1}, the last of the "
                    f"vocabulary, got {i}"
                )
            named.append(self.vocab[i])
        return named


def require_texts(texts: object) -> None:
    """Refuse a single string, whose letters would pass for texts, and non-strings."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise TypeError(
            f"texts must be a list of strings, got {texts!r:.60}; put a single text in "
            "a list, [text], and make an array a list with .tolist()"
        )
    if not texts:
        raise ValueError("texts must hold at least one text, got an empty list")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts[{i}] must be a string, got {text!r:.60}")


def require_max_length(max_length: object) -> None:
    """Refuse what leaves no room for [CLS] and [SEP]."""
    if isinstance(max_length, bool) or not isinstance(max_length, int | np.integer):
        raise TypeError(f"max_length must be a whole number, got {max_length!r}")
    if max_length < 2:
        raise ValueError(
            f"max_length must be at least 2, for [CLS] and [SEP], got {max_length}"
        )


def _require_text(text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {text!r:.60}")
    if half := _SURROGATE.search(text):
        raise ValueError(
            f"text must be whole characters, got half of a surrogate pair, {half[0]!r} "
            f"at {half.start()}; decode the bytes it came from with errors='replace'"
        )


def _clean(char: str) -> str:
    category = unicodedata.category(char)
    if char in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
        return " "
    if category in ("Cc", "Cf", "Co") or char == "\ufffd":
        return ""
    if any(first <= ord(char) <= last for first, last in IDEOGRAPHS):
        return f" {char} "
    return char


def _is_punctuation(char: str) -> bool:
    if char.isascii():
        return char.isprintable() and not char.isalnum() and char != " "
    return unicodedata.category(char).startswith("P")
