"""What goes wrong with the patches of images and their embeddings."""

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import embeddings as ours
from encoderlab.with_torch.dropout import dropout


def cut(name):
    """Enter a way to cut images, from the images and p to the patches."""

    def build(piece):
        def cut_patches(images, patch_size):
            ours.cut_patches(images, patch_size)  # the errors
            return piece(images, patch_size)

        return cut_patches

    return wrong("cut_patches", name, build)


def rearranged(images, p, *order):
    """Put the axes (B, C, Y / p, p, X / p, p) into another order, then join them."""
    B, C, Y, X = images.shape
    axes = images.reshape(B, C, Y // p, p, X // p, p).permute(order)
    return axes.reshape(B, (Y // p) * (X // p), C * p * p)


@cut("reshape_alone")
def _(images, p):
    """you reshape alone, which cuts along whole rows of pixels

    split height and width into two axes each, then permute(0, 2, 4, 1, 3, 5)
    """
    return rearranged(images, p, 0, 1, 2, 3, 4, 5)


@cut("channels_last")
def _(images, p):
    """you lay a patch out pixel by pixel; channel by channel is wanted

    the last axes are channel, row, column: permute(0, 2, 4, 1, 3, 5)
    """
    return rearranged(images, p, 0, 2, 4, 3, 5, 1)


@cut("strips")
def _(images, p):
    """you put the channels last and reshape, which cuts along whole rows of pixels

    split height and width into two axes each, then permute(0, 2, 4, 1, 3, 5)
    """
    B, N, P = ours.cut_patches(images, p).shape
    return images.permute(0, 2, 3, 1).reshape(B, N, P)


@cut("columns_first")
def _(images, p):
    """you go down the image first; the patches run in rows from the top left

    the axis of Y / p comes before that of X / p
    """
    return rearranged(images, p, 0, 4, 2, 1, 3, 5)


@cut("transposed_inside")
def _(images, p):
    """you lay each patch out column by column; row by row is wanted

    the p of the height comes before the p of the width
    """
    return rearranged(images, p, 0, 2, 4, 1, 5, 3)


@cut("transposed")
def _(images, p):
    """you swap height and width, of the patches' order and inside each patch

    the axes of the height come before those of the width: permute(0, 2, 4, 1, 3, 5)
    """
    return rearranged(images, p, 0, 4, 2, 1, 5, 3)


@cut("channels_between")
def _(images, p):
    """you lay a patch out row by row, and in each row channel by channel

    the last axes are channel, row, column: permute(0, 2, 4, 1, 3, 5)
    """
    return rearranged(images, p, 0, 2, 4, 3, 1, 5)


@cut("one_axis_moved")
def _(images, p):
    """you move the axis of Y / p forward and leave that of X / p behind

    both counts of patches come before the channels: permute(0, 2, 4, 1, 3, 5)
    """
    return rearranged(images, p, 0, 2, 1, 3, 4, 5)


@cut("channels_apart")
def _(images, p):
    """your vectors hold one channel each: C stands before the patches

    each vector holds all channels of its patch: permute(0, 2, 4, 1, 3, 5)
    """
    return rearranged(images, p, 0, 1, 2, 4, 3, 5)


@cut("pixels_apart")
def _(images, p):
    """your patches are made of pixels that stand apart: you split Y into (p, Y / p)

    the pixels of a patch are neighbours: Y becomes (Y / p, p)
    """
    B, C, Y, X = images.shape
    axes = images.reshape(B, C, p, Y // p, p, X // p).permute(0, 3, 5, 1, 2, 4)
    return axes.reshape(B, -1, C * p * p)


@cut("unfold_not_transposed")
def _(images, p):
    """you return a column for each patch, as F.unfold does

    the patches are the axis before the last: transpose(1, 2)
    """
    return F.unfold(images, p, stride=p)


@cut("unfold_reshaped")
def _(images, p):
    """you reshape what F.unfold returns; its columns are the patches

    transpose(1, 2) turns columns into rows, a reshape mixes them
    """
    columns = F.unfold(images, p, stride=p)
    return columns.reshape(len(images), columns.shape[2], columns.shape[1])


@cut("overlapping")
def _(images, p):
    """your patches overlap: each begins one pixel after the last

    each begins where the last one ends: a step of p
    """
    return F.unfold(images, p).transpose(1, 2)


@cut("patches_first")
def _(images, p):
    """you put the patches before the batch

    the first axis is B, the second N: torch.stack(patches, dim=1)
    """
    return ours.cut_patches(images, p).transpose(0, 1)


@cut("batch_flattened")
def _(images, p):
    """you put the patches of all images into one axis

    keep (B, N, C p p)
    """
    return ours.cut_patches(images, p).flatten(0, 1)


@cut("not_flattened")
def _(images, p):
    """you keep the patches as a grid

    N is one axis: reshape to (B, N, C p p)
    """
    rows = images.shape[2] // p
    return ours.cut_patches(images, p).unflatten(1, (rows, -1))


@cut("patches_kept_square")
def _(images, p):
    """you keep the axes of a patch

    lay each out as one vector of C p p values
    """
    return ours.cut_patches(images, p).unflatten(2, (-1, p, p))


@cut("squares_only")
def _(images, p):
    """you take the height for the width: images that are no squares fail

    there are Y / p patches down and X / p across
    """
    B, C, Y, _ = images.shape
    axes = images.reshape(B, C, Y // p, p, Y // p, p).permute(0, 2, 4, 1, 3, 5)
    return axes.reshape(B, -1, C * p * p)


@cut("counts_swapped")
def _(images, p):
    """you split the height into X / p pieces and the width into Y / p

    there are Y / p patches down and X / p across
    """
    B, C, Y, X = images.shape
    axes = images.reshape(B, C, X // p, p, Y // p, p).permute(0, 2, 4, 1, 3, 5)
    return axes.reshape(B, -1, C * p * p)


@cut("detached")
def _(images, p):
    """your patches are cut off from the images: no gradient comes back

    leave out detach(), .data, numpy() and no_grad()
    """
    return ours.cut_patches(images.detach(), p)


@wrong("cut_patches")
def rest_cut_off(images, patch_size):
    """you leave out the pixels that no whole patch holds

    raise ValueError unless patch_size divides the height and the width
    """
    Y, X = (size - size % patch_size for size in images.shape[2:])
    return ours.cut_patches(images[..., :Y, :X], patch_size)


@wrong("cut_patches")
def height_alone(images, patch_size):
    """you look at the height alone

    patch_size must divide the width as well
    """
    X = images.shape[3] - images.shape[3] % patch_size
    return ours.cut_patches(images[..., :X], patch_size)


@wrong("cut_patches")
def area_alone(images, patch_size):
    """you look at the number of pixels alone

    patch_size must divide the height, and the width too
    """
    B, C, Y, X = images.shape
    p = patch_size
    if p < 1 or Y * X % p**2:
        raise ValueError(p)
    axes = images.reshape(B, C, Y // p, p, X // p, p).permute(0, 2, 4, 1, 3, 5)
    return axes.reshape(B, -1, C * p * p)


@wrong("cut_patches")
def zero_divides(images, patch_size):
    """you divide by a patch_size of 0 before you look at it

    raise ValueError where it is below 1
    """
    assert patch_size
    return ours.cut_patches(images, patch_size)


class Patches(ours.PatchEmbeddings):
    """The module in steps: ``look``, ``project``, ``join``, ``place``, ``finish``."""

    def forward(self, images):
        """Take the steps one after the other."""
        self.look(images)
        x = self.project(images)
        first = self.class_token.expand(len(x), 1, -1)
        return self.finish(self.place(self.join(first, x)))

    def look(self, images):
        """Refuse images of another size."""
        ours.require_images(self.config, images)

    def project(self, images):
        """Cut patches and map them."""
        return self.patch_proj(ours.cut_patches(images, self.config.patch_size))

    def join(self, first, x):
        """Put the class token in front."""
        return torch.cat([first, x], dim=1)

    def place(self, x):
        """Add the positions."""
        return ours.add_positions(x, self.position, self.config.positions)

    def positions(self, x):
        """The vectors of the positions alone."""
        zeros = torch.zeros_like(x[:1])
        return ours.add_positions(zeros, self.position, self.config.positions)

    def finish(self, x):
        """Drop."""
        return dropout(x, self.p)

    @property
    def p(self):
        """The probability of dropping a value now."""
        return self.config.dropout if self.training else 0.0


patches = wrong("PatchEmbeddings")


@patches
class ReshapedImages(Patches):
    """you reshape the images without cut_patches: your patches are rows of pixels

    map what cut_patches(images, config.patch_size) returns
    """

    def project(self, images):
        cut = ours.cut_patches(images, self.config.patch_size)
        return self.patch_proj(images.reshape(cut.shape))


@patches
class NoBias(Patches):
    """your map of the patches has no bias

    nn.Linear has one unless it is told bias=False
    """

    def __init__(self, config):
        super().__init__(config)
        self.patch_proj.bias = None


@patches
class Convolution(Patches):
    """your patch_proj is a convolution: it computes the same, its weight has four axes

    nn.Linear, of the C p p values that cut_patches lays out, is asked for
    """

    def __init__(self, config):
        super().__init__(config)
        C, D, p = config.num_channels, config.d_model, config.patch_size
        self.patch_proj = nn.Conv2d(C, D, p, stride=p)


@patches
class ChannelsForgotten(Patches):
    """your map takes the p p values of one channel

    a patch has C p p values
    """

    def __init__(self, config):
        super().__init__(config)
        self.patch_proj = nn.Linear(config.patch_size**2, config.d_model)


@patches
class NoClassToken(Patches):
    """you leave the class token out

    torch.cat puts it before the patches
    """

    def join(self, first, x):
        return x


@patches
class ClassTokenLast(Patches):
    """you put the class token after the patches; it comes first

    torch.cat([class token, patches], dim=1)
    """

    def join(self, first, x):
        return torch.cat([x, first], dim=1)


@patches
class ClassTokenNotMade(Patches):
    """your module has no class token

    class_token, an nn.Parameter (D,), comes before the patches
    """

    def __init__(self, config):
        super().__init__(config)
        del self.class_token


@patches
class ClassTokenNotMadeNorItsRow(ClassTokenNotMade):
    """your module has no class token, and no row of positions for it

    class_token, an nn.Parameter (D,), comes before the patches; 1 + N rows
    """

    def __init__(self, config):
        super().__init__(config)
        if self.position is not None:
            self.position = ours.new_embedding(config.num_patches, config.d_model)


@patches
class ClassTokenAlwaysZero(Patches):
    """you put zeros before the patches, not the class token

    expand self.class_token to (B, 1, D)
    """

    def join(self, first, x):
        return torch.cat([0 * first, x], dim=1)


@patches
class ClassTokenAddedToAll(Patches):
    """you add the class token to the patches

    it is a vector of its own, before them
    """

    def join(self, first, x):
        return x + first


@patches
class ClassTokenPlain(Patches):
    """your class token is a plain tensor: it is not trained

    nn.Parameter(…) makes it one of the module's parameters
    """

    def __init__(self, config):
        super().__init__(config)
        token = self.class_token.detach()
        del self.class_token
        self.class_token = token


@patches
class ClassTokenWithAxes(Patches):
    """your class token has axes of 1 before D

    keep it as (D,); expand(B, 1, -1) puts the others in front
    """

    def __init__(self, config):
        super().__init__(config)
        self.class_token = nn.Parameter(self.class_token.detach()[None, None])


@patches
class ClassTokenDetached(Patches):
    """your class token is cut off from the result: it never learns

    use the Parameter itself, without .data and detach()
    """

    def join(self, first, x):
        return torch.cat([first.detach(), x], dim=1)


@patches
class ClassTokenWithoutPosition(Patches):
    """you add no position to the class token: row 0 belongs to it

    put it before the patches, then add the whole table
    """

    def place(self, x):
        return torch.cat([x[:, :1], super().place(x)[:, 1:]], dim=1)


@patches
class PatchesWithoutClassTokensRow(Patches):
    """you number the patches from 0 and give the class token no position

    row 0 is the class token's: put it before the patches, then add the whole table
    """

    def place(self, x):
        placed = x[:, 1:] + self.positions(x)[:, :-1]
        return torch.cat([x[:, :1], placed], dim=1)


@patches
class ClassTokensRowLast(Patches):
    """you give the class token the last position

    row 0 is the class token's, rows 1 to N are the patches'
    """

    def place(self, x):
        return x + self.positions(x).roll(1, dims=1)


@patches
class NoPositionsOfPatches(Patches):
    """you do not add the positions

    without them an image is a bag of patches
    """

    def place(self, x):
        return x if self.position is None else x + 0 * self.position.weight[0]


@patches
class TimesThePositions(Patches):
    """you multiply by the positions

    they are added
    """

    def place(self, x):
        return super().place(x) if self.position is None else x * self.positions(x)


@patches
class PositionsAlongTheBatch(Patches):
    """you give every vector of an image the position of the image in the batch

    the table (1 + N, D) has one row for each vector of an image
    """

    def place(self, x):
        if self.position is None:
            return super().place(x)
        rows = torch.arange(len(x)) % len(self.position.weight)
        return x + self.position.weight[rows, None]


@patches
class RowsForPatchesAlone(Patches):
    """your table has no row for the class token

    it has 1 + config.num_patches rows
    """

    def __init__(self, config):
        super().__init__(config)
        if self.position is not None:
            self.position = nn.Embedding(config.num_patches, config.d_model)


@patches
class AlwaysLearnt(Patches):
    """your positions are learnt, whatever config.positions says

    `position` is None unless it says "learned"
    """

    def __init__(self, config):
        super().__init__(config)
        self.position = nn.Embedding(1 + config.num_patches, config.d_model)


@patches
class PlainTable(Patches):
    """your positions are a plain tensor or a Parameter, not an nn.Embedding

    the table is `position`, an nn.Embedding of 1 + N rows; add its weight
    """

    def __init__(self, config):
        super().__init__(config)
        if self.position is not None:
            self.position = nn.Parameter(self.position.weight.detach())

    def place(self, x):
        return super().place(x) if self.position is None else x + self.position


@patches
class ClocksForgotten(Patches):
    """you add no positions where config.positions is "sinusoidal"

    sinusoidal_positions(1 + N, D) gives them
    """

    def place(self, x):
        return x if self.position is None else super().place(x)


@patches
class ClocksAlways(Patches):
    """you add sinusoidal positions where config.positions is "none"

    there are three kinds: "learned", "sinusoidal" and "none"
    """

    def place(self, x):
        kind = "sinusoidal" if self.position is None else "learned"
        return ours.add_positions(x, self.position, kind)


class PatchesWithTable(Patches):
    """Positions from a table that is kept."""

    def __init__(self, config):
        super().__init__(config)
        if config.positions == "sinusoidal":
            rows = 1 + config.num_patches
            self.keep(ours.sinusoidal_positions(rows, config.d_model))

    def place(self, x):
        kept = self.config.positions == "sinusoidal"
        return x + self.clocks if kept else super().place(x)


@patches
class ClocksAreAParameter(PatchesWithTable):
    """your sinusoidal table is a Parameter: training would change it

    what is not learnt is a buffer, or made anew in `forward`
    """

    def keep(self, clocks):
        self.clocks = nn.Parameter(clocks)


@patches
class ClocksAreAPlainTensor(PatchesWithTable):
    """your sinusoidal table is a plain tensor: .to() and .half() leave it behind

    register_buffer("clocks", table, persistent=False), or make it in `forward`
    """

    def keep(self, clocks):
        self.clocks = clocks


@patches
class ScaledByTheRoot(Patches):
    """you multiply the patches' vectors by √d, as some do with tokens

    they are taken as the map gives them
    """

    def project(self, images):
        return super().project(images) * self.config.d_model**0.5


@patches
class NormAtTheEnd(Patches):
    """you normalise the sum, as the embeddings of texts do

    here only dropout follows: a pre-norm encoder normalises itself
    """

    def finish(self, x):
        D = self.config.d_model
        return super().finish(F.layer_norm(x, (D,), eps=self.config.eps))


@patches
class NothingDropped(Patches):
    """you drop nothing in training

    the last step drops values of the result
    """

    def finish(self, x):
        return x


@patches
class WholeVectorsDropped(Patches):
    """you drop whole vectors, as F.dropout1d does

    each value is dropped for itself: F.dropout
    """

    def finish(self, x):
        return F.dropout1d(x, self.p)


@patches
class OneMaskForAll(Patches):
    """you drop the same places in every image

    draw as many random numbers as x has values
    """

    def finish(self, x):
        return x * dropout(torch.ones_like(x[:1]), self.p)


@patches
class DroppedInEvaluation(Patches):
    """you drop values in evaluation too

    `self.config.dropout if self.training else 0.0`; F.dropout must be told
    training=self.training, and eval() does not reach an nn.Dropout in a list
    """

    def finish(self, x):
        return F.dropout(x, self.config.dropout)


@patches
class DroppedBeforePositions(Patches):
    """you drop values before the positions are added

    dropout is the last step
    """

    def place(self, x):
        return super().place(dropout(x, self.p))

    def finish(self, x):
        return x


@patches
class DroppedTwice(Patches):
    """you drop values of the patches twice, before the positions too

    dropout is the last step, and the only one
    """

    def project(self, images):
        return dropout(super().project(images), self.p)


@patches
class DroppedNotScaled(Patches):
    """you do not scale what is kept

    dropout divides it by 1 - p, so that the mean stays as it is
    """

    def finish(self, x):
        return super().finish(x) * (1 - self.p)


@patches
class PatchesDroppedAlone(Patches):
    """you drop values of the patches alone

    dropout comes after the class token is put before them
    """

    def finish(self, x):
        return torch.cat([x[:, :1], super().finish(x[:, 1:])], dim=1)


@patches
class SizeUnchecked(Patches):
    """you do not look at the images' size: 3 x 12 pixels have as many patches as 6 x 6

    raise ValueError unless the shape is (B, num_channels, image_size, image_size)
    """

    def look(self, images):
        pass


@patches
class PatchesCountedOnly(Patches):
    """you look at the number of patches alone: 3 x 12 pixels have as many as 6 x 6

    raise ValueError unless the shape is (B, num_channels, image_size, image_size)
    """

    def look(self, images):
        config, patches = self.config, ours.cut_patches(images, self.config.patch_size)
        found = images.shape[1], patches.shape[1]
        if found != (config.num_channels, config.num_patches):
            raise ValueError(f"{found} channels and patches")


@patches
class ChannelsUnchecked(Patches):
    """you do not look at the number of channels

    raise ValueError unless the shape is (B, num_channels, image_size, image_size)
    """

    def look(self, images):
        size = self.config.image_size
        if images.ndim != 4 or images.shape[2:] != (size, size):
            raise ValueError(f"the images' shape is {tuple(images.shape)}")


@patches
class ChannelsCheckedAlone(Patches):
    """you look at the number of channels and not at height and width

    raise ValueError unless the shape is (B, num_channels, image_size, image_size)
    """

    def look(self, images):
        if images.ndim != 4 or images.shape[1] != self.config.num_channels:
            raise ValueError(f"the images' shape is {tuple(images.shape)}")
