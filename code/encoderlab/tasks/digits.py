"""Handwritten digits, with one split into training and test for everybody."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sklearn import datasets
from sklearn.model_selection import train_test_split


class Digits(NamedTuple):
    """Images and what they show.

    Attributes
    ----------
    train_images, test_images
        float32, from -1 (paper) to 1 (ink), one channel.
    train_labels, test_labels
        The digits, 0 to 9.
    """

    train_images: Float[np.ndarray, "N 1 8 8"]
    train_labels: Int[np.ndarray, "N"]
    test_images: Float[np.ndarray, "M 1 8 8"]
    test_labels: Int[np.ndarray, "M"]


def load_digits() -> Digits:
    """Load scikit-learn's 1,797 handwritten digits, a fifth of them kept for testing.

    Returns
    -------
    Digits
        1,437 images to learn from and 360 to be tested on, the same ones always and as
        many of each digit in proportion.

    Notes
    -----
    Alpaydin and Kaynak, 1998, "Optical Recognition of Handwritten Digits", UCI Machine
    Learning Repository, CC BY 4.0: the test part of that collection, as scikit-learn
    ships it. The same writers stand on both sides of the split: it measures reading
    new digits by known hands. Chapter 13.

    Examples
    --------
    >>> digits = load_digits()
    >>> digits.train_images.shape, digits.test_labels[:5]
    ((1437, 1, 8, 8), array([7, 6, 3, 7, 7]))
    """
    bunch = datasets.load_digits()
    images = (bunch.images[:, None] / 8 - 1).astype(np.float32)  # pixels from 0 to 16
    train_images, test_images, train_labels, test_labels = train_test_split(
        images, bunch.target, test_size=360, stratify=bunch.target, random_state=0
    )
    return Digits(train_images, train_labels, test_images, test_labels)
