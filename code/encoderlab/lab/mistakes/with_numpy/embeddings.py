"""What goes wrong in chapters 06 and 13, at the entrance of an encoder."""

from functools import partial

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy import embeddings as ours

sinusoid = partial(mistake, "sinusoidal_positions")
text = partial(mistake, "TextEmbeddings")
cutting = partial(mistake, "cut_patches")
patches = partial(mistake, "PatchEmbeddings")


def clocks(exponent=lambda c, d: c // 2 * 2 / d, start=0, cosine=1):
    """Number positions with another exponent for column c, start, or order."""

    def table(n, d, dtype=np.float32):
        ours.sinusoidal_positions(n, d, dtype)  # refuses the same
        c, t = np.arange(d), np.arange(n)[:, None] + start
        angles = t / 10000.0 ** exponent(c, d)
        return np.where(c % 2 == cosine, np.cos(angles), np.sin(angles)).astype(dtype)

    return table


sinusoid(
    "exponent_doubled",
    "you use 2 c / D for column c; the 2 i of the formula is the even column itself",
    "for a width of 4 the exponents are 0, 0, 0.5, 0.5",
)(clocks(lambda c, d: 2 * c / d))
sinusoid(
    "exponent_halved",
    "you use i / D for pair i of columns; it is 2 i / D",
    "for a width of 4 the exponents are 0, 0, 0.5, 0.5",
)(clocks(lambda c, d: c // 2 / d))
sinusoid(
    "multiplied",
    "you multiply the position by 10000 ** (2 i / D); divide by it",
    "later columns must turn more slowly",
)(clocks(lambda c, d: -(c // 2 * 2 / d)))
sinusoid(
    "integer_division",
    "you divide 2 i by D in whole numbers, so that every exponent is 0",
    "write / for //",
)(clocks(lambda c, d: c // 2 * 2 // d))
sinusoid(
    "swapped",
    "you put cosines in the even columns; sines come first",
    "position 0 is 0, 1, 0, 1, …",
)(clocks(cosine=0))
sinusoid(
    "starts_at_1",
    "you count positions from 1; the first is 0",
    "position 0 is 0, 1, 0, 1, …",
)(clocks(start=1))


@sinusoid(
    "halves",
    "you put all sines before all cosines, a convention elsewhere; here they alternate",
    "write to table[:, 0::2] and table[:, 1::2]",
)
def halves(n, d, dtype=np.float32):
    return ours.sinusoidal_positions(n, d, dtype)[:, [*range(0, d, 2), *range(1, d, 2)]]


@sinusoid(
    "odd_crashes",
    "you write as many cosines as sines; an odd width has one column less for them",
    "cut the cosines to d_model // 2 columns",
)
def odd_crashes(n, d, dtype=np.float32):
    table = ours.sinusoidal_positions(n, d, dtype)
    table[:, 1::2] += np.zeros((n, (d + 1) // 2))
    return table


def summed(total, check=ours.require_ids):
    """Put another sum or another check into the embeddings of texts."""

    class Wrong(ours.TextEmbeddings):
        def __call__(self, ids, segments=None, *, rng=None):
            ids, segments = check(self.config, ids, segments)
            token, kind = self.W_token[ids], self.config.positions
            position = ours.positions_of(token, self.W_position, kind)
            x = total(token, self.W_segment[segments], position, self.norm)
            return ours.dropout(x, self.config.dropout, rng)

    return Wrong


def unchecked(config, ids, segments):
    return ids, np.zeros_like(ids) if segments is None else segments


text(
    "along_the_batch",
    "you number the sequences of the batch; positions run along the tokens",
    "add an array of shape (T, D), which fits every sequence",
)(summed(lambda t, s, p, norm: norm(t + s + np.resize(p, (len(t), 1, t.shape[-1])))))
text(
    "row_T",
    "you take one row of W_position for all tokens; each needs its own",
    "take the first T rows, W_position[:T]",
)(summed(lambda t, s, p, norm: norm(t + s + (p[-1] if p.ndim else p))))
text(
    "multiplied",
    "you multiply by the positions; add them",
    "three rows are added, for token, position and segment",
)(summed(lambda t, s, p, norm: norm(t * p + s)))
text(
    "scaled",
    "you multiply the token's row by the root of D, as the first paper does",
    "add the rows as they are, as BERT does",
)(summed(lambda t, s, p, norm: norm(t * t.shape[-1] ** 0.5 + s + p)))
text(
    "no_segments",
    "you leave out the segments; row 0 counts too, where none are given",
    "add W_segment[segment_ids], with zeros for None",
)(summed(lambda t, s, p, norm: norm(t + p)))
text(
    "no_norm",
    "you do not normalise the sum",
    "return self.norm of it, before dropout",
)(summed(lambda t, s, p, norm: t + s + p))
text(
    "ids_unchecked",
    "you accept the id -1, for which NumPy takes the last row",
    "refuse what is below 0 or not below the table's length",
)(summed(lambda t, s, p, norm: norm(t + s + p), unchecked))


def rearranged(order):
    """Cut patches with the six axes (B, rows, p, columns, …) in another order."""

    def cut(images, patch_size):
        right = ours.cut_patches(images, patch_size)
        (B, C, Y, X), p = images.shape, patch_size
        axes = images.reshape(B, C, Y // p, p, X // p, p).transpose(order)
        return axes.reshape(right.shape)

    return cut


cutting(
    "reshape_alone",
    "you reshape alone, which cuts along whole rows of pixels",
    "split height and width into two axes each, and move the patches' axes forward",
)(rearranged((0, 1, 2, 3, 4, 5)))
cutting(
    "channels_last",
    "you lay a patch out pixel by pixel; channel by channel is wanted",
    "the last axes are channel, row, column: transpose(0, 2, 4, 1, 3, 5)",
)(rearranged((0, 2, 4, 3, 5, 1)))
cutting(
    "columns_first",
    "you go down the image first; the patches run in rows from the top left",
    "the axis of Y / p comes before that of X / p",
)(rearranged((0, 4, 2, 1, 3, 5)))


def joined(join):
    """Join class token, patches and positions in another way."""

    class Wrong(ours.PatchEmbeddings):
        def __call__(self, images, *, rng=None):
            cut = ours.cut_patches(images, self.config.patch_size)
            x = cut @ self.W_patch + self.b_patch
            first = np.tile(self.class_token, (len(x), 1, 1))
            right, kind = super().__call__(images), self.config.positions
            p = ours.positions_of(right, self.W_position, kind)
            return ours.dropout(join(first, x, p), self.config.dropout, rng)

    return Wrong


patches(
    "class_token_last",
    "you put the class token after the patches; it comes first",
    "concatenate [class token, patches]",
)(joined(lambda first, x, p: np.concatenate([x, first], axis=1) + p))
patches(
    "class_token_without_position",
    "you add positions to the patches alone; row 0 belongs to the class token",
    "put the class token before the patches, then add the whole table",
)(joined(lambda first, x, p: np.concatenate([first, x + p[1:]], axis=1)))
