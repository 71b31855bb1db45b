"""What goes wrong with positions and with the embeddings of texts."""

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import embeddings as ours
from encoderlab.with_torch.dropout import dropout

F64 = torch.float64


def table(name="", speeds=None):
    """Enter a table of angles' sines and cosines, from T and D to the result."""

    def build(values):
        def sinusoidal_positions(max_len, d_model, dtype=torch.float32):
            ours.sinusoidal_positions(max_len, d_model, dtype)  # the errors
            return values(max_len, d_model).to(dtype)

        return sinusoidal_positions

    return wrong("sinusoidal_positions", name, build)


def alternating(angles, D):
    """Sine, cosine, sine, …, of each angle."""
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)[:, :D]


def frequencies(D):
    """One speed for each pair of columns."""
    return 10000.0 ** (-torch.arange(0, D, 2, dtype=F64) / D)


@table()
def exponent_by_column(T, D):
    """each of your columns has its own speed; sine and cosine share one

    the exponent is 2 i / D for the columns 2 i and 2 i + 1
    """
    angles = torch.arange(T)[:, None] * 10000.0 ** (-torch.arange(D, dtype=F64) / D)
    even = torch.arange(D) % 2 == 0
    return torch.where(even, angles.sin(), angles.cos())


@table()
def exponent_i(T, D):
    """your exponent is i / D, not 2 i / D

    arange(0, D, 2) counts 0, 2, 4, …
    """
    angles = torch.arange(T)[:, None] * frequencies(D).sqrt()
    return alternating(angles, D)


@table()
def multiplied(T, D):
    """your speeds grow from 1, where they should fall

    look at the sign of the exponent
    """
    return alternating(torch.arange(T)[:, None] / frequencies(D), D)


@table()
def halves_concatenated(T, D):
    """you put all sines before all cosines: another convention, used elsewhere

    here they alternate: torch.stack(…, dim=-1).flatten(-2), or slices with a step of 2
    """
    angles = torch.arange(T)[:, None] * frequencies(D)
    return torch.cat([angles.sin(), angles.cos()], -1)[:, :D]


@table()
def sine_and_cosine_swapped(T, D):
    """you begin with the cosine

    sines on even columns, cosines on odd ones
    """
    angles = torch.arange(T)[:, None] * frequencies(D)
    return torch.stack([angles.cos(), angles.sin()], -1).flatten(-2)[:, :D]


@table()
def starts_at_1(T, D):
    """you count positions from 1

    torch.arange(max_len) starts at 0
    """
    return alternating(torch.arange(1, T + 1)[:, None] * frequencies(D), D)


@table()
def base_1000(T, D):
    """your base is not 10000

    look at the number of zeros
    """
    angles = torch.arange(T)[:, None] * frequencies(D) ** 0.75
    return alternating(angles, D)


@table()
def angles_in_float32(T, D):
    """you compute the angles in float32: at position 4999 they have few digits left

    torch.arange(…, dtype=torch.float64), and `.to(dtype)` at the end
    """
    return alternating(torch.arange(T)[:, None] * frequencies(D).float(), D)


@table()
def even_widths_only(T, D):
    """an odd width fails: the last sine has no cosine

    make one cosine less, or cut the last column off
    """
    if D % 2:
        raise RuntimeError("the expanded size of the tensor must match")
    return ours.sinusoidal_positions(T, D, F64)


@wrong("sinusoidal_positions", "dtype_ignored")
def always_float32(max_len, d_model, dtype=torch.float32):
    """you do not use `dtype`

    `.to(dtype)` comes last
    """
    return ours.sinusoidal_positions(max_len, d_model)


@wrong("sinusoidal_positions", "batch_axis")
def with_batch_axis(max_len, d_model, dtype=torch.float32):
    """you put an axis in front

    one row a position: (max_len, d_model)
    """
    return ours.sinusoidal_positions(max_len, d_model, dtype)[None]


class Steps(ours.TextEmbeddings):
    """The module in steps: ``look_up``, ``place``, ``finish``."""

    def forward(self, token_ids, segment_ids=None):
        """Take the steps one after the other."""
        ours.require_ids(self.config, token_ids, segment_ids)
        if segment_ids is None:
            segment_ids = torch.zeros_like(token_ids)
        x = self.look_up(token_ids, segment_ids)
        return self.finish(self.place(x))

    def look_up(self, token_ids, segment_ids):
        """Add token and segment vectors."""
        return self.token(token_ids) + self.segment(segment_ids)

    def place(self, x):
        """Add the positions."""
        return ours.add_positions(x, self.position, self.config.positions)

    def finish(self, x):
        """Normalise and drop."""
        return dropout(self.norm(x), self.p)

    @property
    def p(self):
        """The probability of dropping a value now."""
        return self.config.dropout if self.training else 0.0


texts = wrong("TextEmbeddings")


@texts
class NoSegments(Steps):
    """you do not add the segments' vectors

    ids that are None stand for zeros, whose row is added too
    """

    def look_up(self, token_ids, segment_ids):
        return self.token(token_ids) + 0 * self.segment(segment_ids)


@texts
class SegmentsIgnored(Steps):
    """you always add segment 0

    use segment_ids where they are given
    """

    def look_up(self, token_ids, segment_ids):
        return super().look_up(token_ids, 0 * segment_ids)


@texts
class NoPositions(Steps):
    """you do not add the positions

    without them a text is a bag of words
    """

    def place(self, x):
        return x if self.position is None else x + 0 * self.position.weight[0]


@texts
class PositionsMultiplied(Steps):
    """you multiply by the positions

    the three vectors are added
    """

    def place(self, x):
        if self.position is None:
            return super().place(x)
        return x * self.position.weight[: x.shape[1]]


@texts
class PositionAlongTheBatch(Steps):
    """you give every token the vector of its sequence's place in the batch

    `self.position.weight[:T]` has the shape (T, D): one row a token
    """

    def place(self, x):
        if self.position is None or len(x) > len(self.position.weight):
            return super().place(x)
        return x + self.position.weight[: len(x), None]


@texts
class LastPosition(Steps):
    """you give every token the last position

    `weight[:T]` are the rows up to T, `weight[T - 1]` is one of them
    """

    def place(self, x):
        if self.position is None:
            return super().place(x)
        return x + self.position.weight[x.shape[1] - 1]


@texts
class ScaledByRoot(Steps):
    """you multiply the token vectors by √d, as the paper of 2017 does

    this embedding, BERT's, does not
    """

    def look_up(self, token_ids, segment_ids):
        token = self.token(token_ids) * self.config.d_model**0.5
        return token + self.segment(segment_ids)


@texts
class NoNorm(Steps):
    """you do not normalise the sum

    self.norm comes after the three are added
    """

    def finish(self, x):
        return dropout(x + 0 * (self.norm.weight + self.norm.bias), self.p)


@texts
class NormBeforePositions(Steps):
    """you normalise before the positions are added

    first the sum of all three, then the norm
    """

    def look_up(self, token_ids, segment_ids):
        return self.norm(super().look_up(token_ids, segment_ids))

    def finish(self, x):
        return dropout(x, self.p)


@texts
class DropoutInEvaluation(Steps):
    """you drop values in evaluation too: F.dropout does so unless it is told

    `self.config.dropout if self.training else 0.0`, or training=self.training
    """

    def finish(self, x):
        return F.dropout(self.norm(x), self.config.dropout)


@texts
class NoDropout(Steps):
    """you drop nothing in training

    the last step drops values of the result
    """

    def finish(self, x):
        return self.norm(x)


@texts
class TokensDetached(Steps):
    """you use the table's `.data`: tokens never learn

    call self.token(token_ids)
    """

    def look_up(self, token_ids, segment_ids):
        return self.token.weight.data[token_ids] + self.segment(segment_ids)


@texts
class RepeatedTokensLost(Steps):
    """of a token that comes twice, only one place sends a gradient back

    look rows up with the module or an index; nothing is to be written by hand
    """

    def look_up(self, token_ids, segment_ids):
        first = torch.ones_like(token_ids)
        for row, ids in enumerate(token_ids.tolist()):
            for place, token in enumerate(ids):
                first[row, place] = token not in ids[:place]
        rows = self.token(token_ids)
        rows = torch.where(first[..., None] == 1, rows, rows.detach())
        return rows + self.segment(segment_ids)


class WithTable(Steps):
    """Positions from a table that is kept."""

    def __init__(self, config):
        super().__init__(config)
        if config.positions == "sinusoidal":
            self.keep(ours.sinusoidal_positions(config.max_seq_len, config.d_model))

    def place(self, x):
        if self.config.positions != "sinusoidal":
            return super().place(x)
        return x + self.clocks[: x.shape[1]]


@texts
class TableIsAParameter(WithTable):
    """your sinusoidal table is a Parameter: training would change it

    what is not learnt is a buffer, or made anew in `forward`
    """

    def keep(self, clocks):
        self.clocks = nn.Parameter(clocks)


@texts
class TableIsAPlainTensor(WithTable):
    """your sinusoidal table is a plain tensor: .to() and .half() leave it behind

    register_buffer("clocks", table, persistent=False), or make it in `forward`
    """

    def keep(self, clocks):
        self.clocks = clocks


@texts
class TableLearnt(ours.TextEmbeddings):
    """your positions are learnt, whatever config.positions says

    sinusoidal ones have no parameters
    """

    def __init__(self, config):
        super().__init__(config)
        self.position = nn.Embedding(config.max_seq_len, config.d_model)


@texts
class IdsUnchecked(Steps):
    """you accept ids that no row belongs to: a negative one counts from the end

    raise ValueError below 0 and from vocab_size on
    """

    def forward(self, token_ids, segment_ids=None):
        wrapped = token_ids % self.config.vocab_size
        if token_ids.is_floating_point():
            raise TypeError("ids")
        return super().forward(wrapped, segment_ids)


@texts
class PaddingRowFixed(Steps):
    """your table has padding_idx=0: the row of id 0 gets no gradient

    pads are hidden by the mask; their row is one like the others
    """

    def __init__(self, config):
        super().__init__(config)
        self.token.padding_idx = 0


@texts
class ZeroTables(Steps):
    """your tables start at 0: all tokens are alike

    draw them at random, as nn.Embedding does
    """

    def __init__(self, config):
        super().__init__(config)
        nn.init.zeros_(self.token.weight)
