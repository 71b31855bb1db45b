"""What goes wrong with normalisation in PyTorch."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import normalization as ours


def normal(exercise):
    """Enter what makes the normalised vector of x and eps."""

    def build(normalised):
        if exercise == "layer_norm":
            return lambda x, gamma, beta, eps=1e-5: gamma * normalised(x, eps) + beta
        return lambda x, gamma, eps=1e-6: gamma * normalised(x, eps)

    return wrong(exercise, build=build)


def centre(x, axis=-1):
    """Subtract the mean."""
    return x - x.mean(axis, keepdim=True)


def variance(x, axis=-1, correction=0):
    """The variance, of all D."""
    return x.var(axis, correction=correction, keepdim=True)


@normal("layer_norm")
def correction_1(x, eps):
    """you divide the sum of squares by D - 1, as `var` and `std` of PyTorch do

    the variance here is a mean over D: `correction=0`
    """
    return centre(x) / torch.sqrt(variance(x, correction=1) + eps)


@normal("layer_norm")
def eps_outside(x, eps):
    """you add eps outside the root

    `torch.sqrt(variance + eps)`
    """
    return centre(x) / (torch.sqrt(variance(x)) + eps)


@normal("layer_norm")
def no_eps(x, eps):
    """you leave out eps: a constant row gives NaN

    add it to the variance, inside the root
    """
    return centre(x) / torch.sqrt(variance(x))


@normal("layer_norm")
def eps_fixed(x, eps):
    """you always add 1e-5, whatever `eps` is

    use the argument
    """
    return centre(x) / torch.sqrt(variance(x) + 1e-5)


@normal("layer_norm")
def over_tokens_and_width(x, eps):
    """you take mean and variance over all tokens of a sequence

    each token has its own: axis -1 alone
    """
    return F.layer_norm(x, x.shape[-2:], eps=eps)


@normal("layer_norm")
def over_batch(x, eps):
    """you take mean and variance over the batch, as BatchNorm does

    each token has its own, over its coordinates: axis -1
    """
    return centre(x, 0) / torch.sqrt(variance(x, 0) + eps)


@normal("layer_norm")
def by_variance(x, eps):
    """you divide by the variance, not by its root

    take the root
    """
    return centre(x) / (variance(x) + eps)


@normal("layer_norm")
def mean_kept(x, eps):
    """you do not subtract the mean

    centre x before dividing
    """
    return x / torch.sqrt(variance(x) + eps)


@normal("layer_norm")
def mean_of_squares(x, eps):
    """you take E[x²] - E[x]² for the variance: far from 0 it has no digits left

    centre first, then take the mean of the squares
    """
    second = x.square().mean(-1, keepdim=True) - x.mean(-1, keepdim=True).square()
    return centre(x) / torch.sqrt(second + eps)


@normal("layer_norm")
def statistics_detached(x, eps):
    """you take mean and deviation for constants: right values, wrong gradients

    both depend on x; detach neither, and use no .data
    """
    mean, spread = x.mean(-1, keepdim=True), torch.sqrt(variance(x) + eps)
    return (x - mean.detach()) / spread.detach()


@normal("layer_norm")
def deviation_detached(x, eps):
    """you take the deviation for a constant: right values, wrong gradients

    it depends on every coordinate; detach it nowhere
    """
    return centre(x) / torch.sqrt(variance(x) + eps).detach()


@normal("layer_norm")
def half_overflows(x, eps):
    """you square float16 numbers in float16: above 255 the square is infinite

    compute in float32, and convert the result back
    """
    centred = centre(x)
    return centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + eps)


@wrong("layer_norm")
def parameters_unused(x, gamma, beta, eps=1e-5):
    """you normalise, and do not scale and shift

    multiply by gamma, and add beta
    """
    return ours.layer_norm(x, torch.ones_like(gamma), torch.zeros_like(beta), eps)


@wrong("layer_norm")
def scaled_after_shift(x, gamma, beta, eps=1e-5):
    """you multiply beta by gamma as well

    first the product with gamma, then beta
    """
    return gamma * (ours.layer_norm(x, torch.ones_like(gamma), beta, eps))


@wrong("layer_norm")
def detached(x, gamma, beta, eps=1e-5):
    """your result is cut off from x: no gradient comes back

    leave out detach(), .data, numpy() and no_grad()
    """
    return ours.layer_norm(x.detach(), gamma, beta, eps)


@normal("rms_norm")
def rms_eps_outside(x, eps):
    """you add eps outside the root

    `torch.sqrt(mean_square + eps)`
    """
    return x / (x.square().mean(-1, keepdim=True).sqrt() + eps)


@normal("rms_norm")
def mean_subtracted(x, eps):
    """you subtract the mean: that is LayerNorm

    RMSNorm leaves the mean where it is
    """
    return centre(x) / torch.sqrt(variance(x) + eps)


@normal("rms_norm")
def by_deviation(x, eps):
    """you divide by the standard deviation

    take the mean of x², without subtracting anything
    """
    return x / torch.sqrt(variance(x) + eps)


@normal("rms_norm")
def sum_of_squares(x, eps):
    """you divide by the length of the vector: a sum of squares, not their mean

    divide the sum by D, or take `mean`
    """
    return x / torch.sqrt(x.square().sum(-1, keepdim=True) + eps)


@normal("rms_norm")
def rms_over_everything(x, eps):
    """you take one mean square of the whole tensor

    each token has its own: `mean(-1, keepdim=True)`
    """
    return x / torch.sqrt(x.square().mean() + eps)


@normal("rms_norm")
def rms_detached(x, eps):
    """you take the root mean square for a constant: right values, wrong gradients

    it depends on every coordinate; detach it nowhere
    """
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps).detach()


@wrong("rms_norm")
def one_plus_gamma(x, gamma, eps=1e-6):
    """you multiply by 1 + gamma

    here gamma starts at 1 and is the factor itself
    """
    return ours.rms_norm(x, 1 + gamma, eps)


def module_with(book, forward):
    """Enter a module that computes in another way."""
    told = {"__doc__": forward.__doc__, "__module__": __name__, "forward": forward}
    return wrong(book.__name__)(type(forward.__name__, (book,), told))


def module_made(book, change):
    """Enter a module that is changed after it is made."""

    def init(self, *args, **choices):
        book.__init__(self, *args, **choices)
        change(self)

    told = {"__doc__": change.__doc__, "__module__": __name__, "__init__": init}
    return wrong(book.__name__)(type(change.__name__, (book,), told))


@partial(module_with, ours.LayerNorm)
def eps_not_kept(self, x):
    """your module does not use its eps

    hand `self.eps` on
    """
    return ours.layer_norm(x, self.weight, self.bias)


@partial(module_with, ours.LayerNorm)
def weight_and_bias_unused(self, x):
    """you normalise, and do not scale and shift

    hand `self.weight` and `self.bias` on
    """
    return F.layer_norm(x, x.shape[-1:], eps=self.eps) + 0 * (self.weight + self.bias)


@partial(module_with, ours.LayerNorm)
def exchanged(self, x):
    """you exchange weight and bias

    weight is the factor gamma, bias is added
    """
    return ours.layer_norm(x, self.bias, self.weight, self.eps)


@partial(module_with, ours.LayerNorm)
def data_of_parameters(self, x):
    """you use `.data`: the parameters are right, and get no gradient

    use `self.weight` and `self.bias` themselves
    """
    return ours.layer_norm(x, self.weight.data, self.bias.data, self.eps)


@partial(module_made, ours.LayerNorm)
def plain_tensors(self):
    """your weight and bias are plain tensors: no optimiser will see them

    wrap them in `nn.Parameter`
    """
    weight, bias = self.weight.data, self.bias.data
    del self.weight, self.bias
    self.weight, self.bias = weight, bias


@partial(module_made, ours.LayerNorm)
def buffers(self):
    """your weight and bias are buffers: they are stored, but never trained

    buffers hold what is not learnt; wrap these in `nn.Parameter`
    """
    weight, bias = self.weight.data, self.bias.data
    del self.weight, self.bias
    self.register_buffer("weight", weight)
    self.register_buffer("bias", bias)


@partial(module_made, ours.LayerNorm)
def frozen(self):
    """your parameters do not require a gradient, so that they never learn

    leave out requires_grad=False
    """
    self.requires_grad_(False)


@wrong("LayerNorm", "other_names")
class OtherNames(nn.Module):
    """your parameters are called gamma and beta: no checkpoint fits

    the names are weight and bias, as in torch.nn.LayerNorm
    """

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        return ours.layer_norm(x, self.gamma, self.beta, self.eps)


@partial(module_made, ours.LayerNorm)
def weight_starts_at_zero(self):
    """your weight starts at 0, so that a new module gives nothing

    ones for the weight, zeros for the bias
    """
    nn.init.zeros_(self.weight)


@partial(module_made, ours.LayerNorm)
def drawn_at_random(self):
    """you draw the weight at random

    ones for the weight, zeros for the bias
    """
    nn.init.normal_(self.weight)


@partial(module_made, ours.RMSNorm)
def bias_too(self):
    """your module has a bias

    RMSNorm shifts nothing: weight is its only parameter
    """
    self.bias = nn.Parameter(torch.zeros_like(self.weight))


@partial(module_made, ours.RMSNorm)
def plain_tensor(self):
    """your weight is a plain tensor: no optimiser will see it

    wrap it in `nn.Parameter`
    """
    weight = self.weight.data
    del self.weight
    self.weight = weight


@partial(module_made, ours.RMSNorm)
def rms_starts_at_zero(self):
    """your weight starts at 0, so that a new module gives nothing

    it starts at ones
    """
    nn.init.zeros_(self.weight)


@partial(module_with, ours.RMSNorm)
def is_layer_norm(self, x):
    """you subtract the mean: that is LayerNorm

    call `rms_norm`
    """
    return self.weight * mean_subtracted(x, self.eps)


@partial(module_with, ours.RMSNorm)
def rms_eps_not_kept(self, x):
    """your module does not use its eps

    hand `self.eps` on
    """
    return ours.rms_norm(x, self.weight)
