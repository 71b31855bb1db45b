"""What goes wrong in chapter 10, in the wiring of a layer."""

from functools import partial

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.encoder_layer import EncoderLayer

layer = partial(mistake, "EncoderLayer")


def wired(pre=None, post=None):
    """Wire the parts of a layer in another way, in one order of the norm or in both.

    Each way takes x, attention a, the feed-forward network f and the two norms.
    """

    class Wired(EncoderLayer):
        def __call__(self, x, mask=None, *, rng=None):
            weights = []

            def a(x):
                attended, w = self.attention(x, mask, rng=rng)
                weights.append(w)
                return dropout(attended, self.dropout, rng)

            def f(x):
                return dropout(self.feed_forward(x, rng=rng), self.dropout, rng)

            way = pre if self.norm_first else post
            if way is None:
                return super().__call__(x, mask, rng=rng)
            return way(x, a, f, self.norm_1, self.norm_2), weights[0]

    return Wired


def pre_norm(x, a, f, n1, n2):
    h = x + a(n1(x))
    return h + f(n2(h))


def post_norm(x, a, f, n1, n2):
    h = n1(x + a(x))
    return n2(h + f(h))


class WithoutMask(EncoderLayer):
    def __call__(self, x, mask=None, *, rng=None):
        return super().__call__(x, rng=rng)


layer("mask_ignored", "you do not use the mask", "hand it on to attention")(WithoutMask)
layer(
    "always_post",
    "you normalise after each sum, whatever `norm_first` says",
    "pre-norm normalises what enters a sublayer",
)(wired(pre=post_norm))
layer(
    "always_pre",
    "you normalise before each sublayer, whatever `norm_first` says",
    "post-norm normalises the sum",
)(wired(post=pre_norm))
layer(
    "orders_swapped",
    "you take pre-norm for post-norm and the reverse",
    "`norm_first` means before the sublayer",
)(wired(post_norm, pre_norm))
layer(
    "no_residual",
    "you add neither sublayer's result to what it was given",
    "h = x + …, and y = h + …",
)(
    wired(
        lambda x, a, f, n1, n2: f(n2(a(n1(x)))), lambda x, a, f, n1, n2: n2(f(n1(a(x))))
    )
)
layer(
    "no_second_residual",
    "you add x to attention's result, and h not to the feed-forward network's",
    "each of the two sublayers has its own sum",
)(
    wired(
        lambda x, a, f, n1, n2: f(n2(x + a(n1(x)))),
        lambda x, a, f, n1, n2: n2(f(n1(x + a(x)))),
    )
)
layer(
    "no_first_residual",
    "you add h to the feed-forward network's result, and x not to attention's",
    "each of the two sublayers has its own sum",
)(
    wired(
        lambda x, a, f, n1, n2: (h := a(n1(x))) + f(n2(h)),
        lambda x, a, f, n1, n2: n2((h := n1(a(x))) + f(h)),
    )
)
layer(
    "parallel",
    "you give both sublayers x; the feed-forward network gets what attention made",
    "hand h on, not x",
)(
    wired(
        lambda x, a, f, n1, n2: x + a(n1(x)) + f(n2(x)),
        lambda x, a, f, n1, n2: n2(n1(x + a(x)) + f(x)),
    )
)
layer(
    "adds_x_twice",
    "you add x in the second sum as well; h is what enters there",
    "y = h + …",
)(
    wired(
        lambda x, a, f, n1, n2: x + f(n2(x + a(n1(x)))),
        lambda x, a, f, n1, n2: n2(x + f(n1(x + a(x)))),
    )
)
layer(
    "feed_forward_first",
    "you run the feed-forward network first",
    "attention comes first",
)(
    wired(
        lambda x, a, f, n1, n2: pre_norm(x, f, a, n2, n1),
        lambda x, a, f, n1, n2: post_norm(x, f, a, n2, n1),
    )
)
layer(
    "norm_on_the_output",
    "you normalise a sublayer's result; pre-norm normalises what enters it",
    "write x + f(norm(x)), not x + norm(f(x))",
)(wired(lambda x, a, f, n1, n2: (h := x + n1(a(x))) + n2(f(h))))
layer(
    "norm_before_the_sum",
    "you normalise the sublayer's result, then add; post-norm normalises the sum",
    "write norm(x + f(x)), not x + norm(f(x))",
)(wired(post=lambda x, a, f, n1, n2: (h := x + n1(a(x))) + n2(f(h))))


def adds_the_normed(x, a, f, n1, n2):
    x = n1(x)
    h = n2(x + a(x))
    return h + f(h)


layer(
    "adds_the_normed",
    "you add the normalised x; pre-norm adds x as it came",
    "keep x, and give norm(x) to the sublayer alone",
)(wired(adds_the_normed))
layer(
    "one_norm",
    "you use one norm for both sublayers",
    "norm_1 belongs to attention, norm_2 to the feed-forward network",
)(
    wired(
        lambda x, a, f, n1, n2: pre_norm(x, a, f, n1, n1),
        lambda x, a, f, n1, n2: post_norm(x, a, f, n1, n1),
    )
)
layer(
    "norms_swapped",
    "you use norm_2 for attention and norm_1 for the feed-forward network",
    "norm_1 belongs to attention",
)(
    wired(
        lambda x, a, f, n1, n2: pre_norm(x, a, f, n2, n1),
        lambda x, a, f, n1, n2: post_norm(x, a, f, n2, n1),
    )
)


@layer(
    "changes_x",
    "you write x += …, which changes the caller's array",
    "x = x + … makes a new one",
)
class ChangesX(EncoderLayer):
    def __call__(self, x, mask=None, *, rng=None):
        x[...], weights = super().__call__(x, mask, rng=rng)
        return x, weights
