import hashlib

import numpy as np

from encoderlab.tasks import load_digits


def test_digits_have_one_split_for_everybody():
    digits = load_digits()
    labels = np.concatenate([digits.train_labels, digits.test_labels])
    pixels = np.concatenate([digits.train_images, digits.test_images])
    content = labels.astype("<i8").tobytes() + pixels.astype("<f4").tobytes()
    assert hashlib.sha256(content).hexdigest()[:16] == "b92e736999be0c15"


def test_digits_are_all_there_once_and_in_proportion():
    digits = load_digits()
    assert digits.train_images.shape == (1437, 1, 8, 8)
    assert digits.test_images.shape == (360, 1, 8, 8)
    assert digits.train_images.dtype == np.float32
    everything = np.concatenate([digits.train_images, digits.test_images])
    assert len(np.unique(everything.reshape(1797, -1), axis=0)) == 1797
    assert (everything.min(), everything.max()) == (-1, 1)
    for labels in (digits.train_labels, digits.test_labels):
        shares = np.bincount(labels) / len(labels)
        assert shares.shape == (10,)
        assert (np.abs(shares - 0.1) < 0.005).all()
