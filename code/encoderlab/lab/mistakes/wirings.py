"""Wrong wirings of an encoder layer, which do not depend on what it is made of.

Each takes x, attention a, the feed-forward network f and the two norms.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

Way = Callable[..., Any]


class Wiring(NamedTuple):
    """A wrong wiring, in one order of the norm or in both; None is the right one."""

    name: str
    says: str
    hint: str
    pre: Way | None = None
    post: Way | None = None


def pre_norm(x, a, f, n1, n2):
    """Wire a layer as pre-norm does."""
    h = x + a(n1(x))
    return h + f(n2(h))


def post_norm(x, a, f, n1, n2):
    """Wire a layer as post-norm does."""
    h = n1(x + a(x))
    return n2(h + f(h))


def norm_of_the_result(x, a, f, n1, n2):
    """Normalise what a sublayer gives, not what enters it, nor the sum."""
    h = x + n1(a(x))
    return h + n2(f(h))


def normed_added(x, a, f, n1, n2):
    """Add the normalised x."""
    x = n1(x)
    h = n2(x + a(x))
    return h + f(h)


WIRINGS = [
    Wiring(
        "always_post",
        "you normalise after each sum, whatever `norm_first` says",
        "pre-norm normalises what enters a sublayer",
        pre=post_norm,
    ),
    Wiring(
        "always_pre",
        "you normalise before each sublayer, whatever `norm_first` says",
        "post-norm normalises the sum",
        post=pre_norm,
    ),
    Wiring(
        "orders_swapped",
        "you take pre-norm for post-norm and the reverse",
        "`norm_first` means before the sublayer",
        post_norm,
        pre_norm,
    ),
    Wiring(
        "no_residual",
        "you add neither sublayer's result to what it was given",
        "h = x + …, and y = h + …",
        lambda x, a, f, n1, n2: f(n2(a(n1(x)))),
        lambda x, a, f, n1, n2: n2(f(n1(a(x)))),
    ),
    Wiring(
        "no_second_residual",
        "you add x to attention's result, and h not to the feed-forward network's",
        "each of the two sublayers has its own sum",
        lambda x, a, f, n1, n2: f(n2(x + a(n1(x)))),
        lambda x, a, f, n1, n2: n2(f(n1(x + a(x)))),
    ),
    Wiring(
        "no_first_residual",
        "you add h to the feed-forward network's result, and x not to attention's",
        "each of the two sublayers has its own sum",
        lambda x, a, f, n1, n2: (h := a(n1(x))) + f(n2(h)),
        lambda x, a, f, n1, n2: n2((h := n1(a(x))) + f(h)),
    ),
    Wiring(
        "parallel",
        "you give both sublayers x; the feed-forward network gets what attention made",
        "hand h on, not x",
        lambda x, a, f, n1, n2: x + a(n1(x)) + f(n2(x)),
        lambda x, a, f, n1, n2: n2(n1(x + a(x)) + f(x)),
    ),
    Wiring(
        "adds_x_twice",
        "you add x in the second sum as well; h is what enters there",
        "y = h + …",
        lambda x, a, f, n1, n2: x + f(n2(x + a(n1(x)))),
        lambda x, a, f, n1, n2: n2(x + f(n1(x + a(x)))),
    ),
    Wiring(
        "feed_forward_first",
        "you run the feed-forward network first",
        "attention comes first",
        lambda x, a, f, n1, n2: pre_norm(x, f, a, n2, n1),
        lambda x, a, f, n1, n2: post_norm(x, f, a, n2, n1),
    ),
    Wiring(
        "norm_on_the_output",
        "you normalise a sublayer's result; pre-norm normalises what enters it",
        "write x + f(norm(x)), not x + norm(f(x))",
        pre=norm_of_the_result,
    ),
    Wiring(
        "norm_before_the_sum",
        "you normalise the sublayer's result, then add; post-norm normalises the sum",
        "write norm(x + f(x)), not x + norm(f(x))",
        post=norm_of_the_result,
    ),
    Wiring(
        "adds_the_normed",
        "you add the normalised x; pre-norm adds x as it came",
        "keep x, and give norm(x) to the sublayer alone",
        pre=normed_added,
    ),
    Wiring(
        "one_norm",
        "you use one norm for both sublayers",
        "norm_1 belongs to attention, norm_2 to the feed-forward network",
        lambda x, a, f, n1, n2: pre_norm(x, a, f, n1, n1),
        lambda x, a, f, n1, n2: post_norm(x, a, f, n1, n1),
    ),
    Wiring(
        "norms_swapped",
        "you use norm_2 for attention and norm_1 for the feed-forward network",
        "norm_1 belongs to attention",
        lambda x, a, f, n1, n2: pre_norm(x, a, f, n2, n1),
        lambda x, a, f, n1, n2: post_norm(x, a, f, n2, n1),
    ),
]
"""In the order of the book's page of mistakes."""
