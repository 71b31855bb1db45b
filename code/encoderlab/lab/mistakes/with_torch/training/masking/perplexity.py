"""What goes wrong with perplexities in PyTorch."""

from math import exp, log

import torch

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch.training import masking as ours


def of_number(formula):
    """Build a perplexity from a formula of the loss as a number."""

    def perplexity(loss):
        number = loss.item() if isinstance(loss, torch.Tensor) else float(loss)
        return formula(number)

    return perplexity


def number(name):
    """Enter a formula of the loss."""
    return wrong("perplexity", name, of_number)


@number("base_2")
def _(loss):
    """you raise 2 to the loss, which is in nats, not in bits

    exp undoes the natural logarithm
    """
    return 2.0**loss


@number("base_10")
def _(loss):
    """you raise 10 to the loss

    exp undoes the natural logarithm
    """
    return 10.0**loss


@number("probability")
def _(loss):
    """you return the probability exp(-loss), not the number of choices

    look at the sign
    """
    return exp(-loss)


@number("loss_itself")
def _(loss):
    """you return the loss

    the perplexity is exp of it
    """
    return loss


@number("bits")
def _(loss):
    """you turn the loss into bits and take exp of them

    exp of nats, or 2 to the power of bits
    """
    return exp(loss / log(2))


@number("minus_one")
def _(loss):
    """you return exp(loss) - 1

    a model that is always right has the perplexity 1
    """
    return exp(loss) - 1


@number("rounded")
def _(loss):
    """you round the result

    leave that to whoever prints it
    """
    return round(exp(loss), 2) if loss < 100 else loss


@wrong("perplexity")
def returns_tensor(loss):
    """you return a tensor

    a float is asked for: .item()
    """
    return torch.as_tensor(loss, dtype=torch.float64).exp().detach()


@wrong("perplexity")
def autograd_forgotten(loss):
    """a loss that autograd follows fails: numpy() refuses it

    .item() or .detach() first
    """
    if isinstance(loss, torch.Tensor):
        loss = loss.numpy()
    return exp(float(loss))


@wrong("perplexity")
def floats_refused(loss):
    """you take tensors alone

    the loss may be a float or a tensor: torch.as_tensor takes both
    """
    return exp_of_tensor(loss).item()


@wrong("perplexity")
def tensors_alone(loss):
    """you take tensors alone, and return one

    the loss may be a float or a tensor: torch.as_tensor takes both; .item() at the end
    """
    return exp_of_tensor(loss)


def exp_of_tensor(loss):
    """Take exp of a tensor; fail for a float as torch.exp does."""
    if not isinstance(loss, torch.Tensor):
        raise TypeError(f"exp() takes a tensor, got {type(loss).__name__}")
    return loss.exp()


@wrong("perplexity")
def tensor_for_tensor(loss):
    """you return a tensor where the loss is one

    a float is asked for, whatever the loss is: .item()
    """
    return torch.e**loss


@wrong("perplexity")
def tensors_refused(loss):
    """you take floats alone

    the loss may be a float or a tensor: torch.as_tensor takes both
    """
    if isinstance(loss, torch.Tensor):
        raise TypeError("must be real number, not Tensor")
    return exp(loss)


def of_ids(formula):
    """Build a baseline from the ids that count: those seen, those asked for, V."""

    def unigram_perplexity(train_ids, held_out_ids, vocab_size):
        ours.unigram_perplexity(train_ids, held_out_ids, vocab_size)  # the errors
        seen, asked = train_ids[train_ids >= 0], held_out_ids[held_out_ids >= 0]
        return float(formula(seen, asked, vocab_size))

    return unigram_perplexity


def baseline(name):
    """Enter a baseline of the ids that count."""
    return wrong("unigram_perplexity", name, of_ids)


def counts(ids, size):
    """How often each id was seen."""
    return torch.bincount(ids, minlength=size).double()


def of(probabilities, asked):
    """The perplexity of guessing by these probabilities."""
    return (-probabilities.log()[asked].mean()).exp()


def smooth(seen, size):
    """The probabilities as they should be."""
    return (counts(seen, size) + 1) / (len(seen) + size)


@baseline("no_smoothing")
def _(seen, asked, size):
    """you do not count each id once more: one that was never seen costs infinitely much

    add 1 to every count
    """
    return of(counts(seen, size) / len(seen), asked)


@baseline("sum_unsmoothed")
def _(seen, asked, size):
    """you add 1 to the counts and divide by the number of ids seen: too small

    divide by the sum of what was added to: the probabilities sum to 1
    """
    return of((counts(seen, size) + 1) / len(seen), asked)


@baseline("sum_smoothed_alone")
def _(seen, asked, size):
    """you add V below and nothing above: an unseen id costs infinitely much

    add 1 to every count, then divide by their sum
    """
    return of(counts(seen, size) / (len(seen) + size), asked)


@baseline("one_more_in_all")
def _(seen, asked, size):
    """you add 1 to the sum; V counts have grown by 1 each

    divide by the sum of all n + 1
    """
    return of((counts(seen, size) + 1) / (len(seen) + 1), asked)


@baseline("unseen_alone")
def _(seen, asked, size):
    """you add 1 for the ids that were never seen alone

    each is counted once more than it is seen
    """
    more = counts(seen, size).clamp(min=1)
    return of(more / more.sum(), asked)


@baseline("half_more")
def _(seen, asked, size):
    """you add a half to each count

    each is counted once more than it is seen
    """
    more = counts(seen, size) + 0.5
    return of(more / more.sum(), asked)


@baseline("tiny_more")
def _(seen, asked, size):
    """you add a tiny number in the logarithm in place of 1 to each count

    that is the price of an unseen id, and any number you like
    """
    shares = counts(seen, size) / max(len(seen), 1)
    return of(shares + 1e-9, asked)


@baseline("counts_of_held_out")
def _(seen, asked, size):
    """you count the ids that are to be guessed

    count those of train_ids: the others are not known
    """
    return of(smooth(asked, size), asked)


@baseline("counts_of_both")
def _(seen, asked, size):
    """you count both texts

    count train_ids alone: the others are not known
    """
    return of(smooth(torch.cat([seen, asked]), size), asked)


@baseline("guesses_train")
def _(seen, asked, size):
    """you guess the ids that were counted

    take the mean over held_out_ids
    """
    return of(smooth(seen, size), seen)


@baseline("entropy")
def _(seen, asked, size):
    """you take the entropy of the counts; held_out_ids are not asked

    take the mean of -log p over held_out_ids
    """
    p = smooth(seen, size)
    return (-(p * p.log()).sum()).exp()


@baseline("mean_of_perplexities")
def _(seen, asked, size):
    """you take the mean of the tokens' perplexities, 1 / p

    first the mean of the losses, then exp
    """
    return (1 / smooth(seen, size)[asked]).mean()


@baseline("mean_of_probabilities")
def _(seen, asked, size):
    """you take the mean of the probabilities

    first the logs, then the mean, then exp
    """
    return 1 / smooth(seen, size)[asked].mean()


@baseline("summed")
def _(seen, asked, size):
    """you take the sum of the losses

    the perplexity is exp of their mean
    """
    return (-smooth(seen, size).log()[asked].sum()).exp()


@baseline("log2_and_exp")
def _(seen, asked, size):
    """you take logarithms of base 2, and exp of them

    both to the same base
    """
    return (-smooth(seen, size).log2()[asked].mean()).exp()


@baseline("log_and_2")
def _(seen, asked, size):
    """you raise 2 to a loss in nats

    both to the same base
    """
    return 2 ** -smooth(seen, size).log()[asked].mean()


@baseline("loss_itself")
def _(seen, asked, size):
    """you return the loss

    the perplexity is exp of it
    """
    return -smooth(seen, size).log()[asked].mean()


@baseline("sign_forgotten")
def _(seen, asked, size):
    """you forget the minus: a perplexity is at least 1

    the loss is the mean of -log p
    """
    return smooth(seen, size).log()[asked].mean().exp()


@baseline("each_id_once")
def _(seen, asked, size):
    """you ask for each id once; one that comes often counts as often

    take the mean over all held_out_ids
    """
    return of(smooth(seen, size), asked.unique())


@baseline("presence")
def _(seen, asked, size):
    """you note which ids were seen, not how often: `counts[ids] += 1` counts once

    torch.bincount counts all
    """
    return of(smooth(seen.unique(), size), asked)


@baseline("softmax_of_counts")
def _(seen, asked, size):
    """you take the softmax of the counts

    a probability is a share: divide n + 1 by the sum
    """
    return of(counts(seen, size).softmax(0), asked)


@baseline("zero_left_out")
def _(seen, asked, size):
    """you leave the id 0 out

    it is an id; -100 and other negative numbers are none
    """
    return of(smooth(seen[seen > 0], size), asked[asked > 0])


@baseline("uniform")
def _(seen, asked, size):
    """you return the number of ids: what was seen does not count

    p follows the counts
    """
    return size


@baseline("no_minlength")
def _(seen, asked, size):
    """you count up to the largest id that was seen: the others have no probability

    torch.bincount(…, minlength=vocab_size)
    """
    more = torch.bincount(seen) + 1
    return of(more / more.sum(), asked)


@baseline("no_minlength_right_sum")
def _(seen, asked, size):
    """you divide by the right sum, and count up to the largest id that was seen alone

    torch.bincount(…, minlength=vocab_size)
    """
    return of((torch.bincount(seen) + 1) / (len(seen) + size), asked)


plain = wrong("unigram_perplexity")


@plain
def mean_of_rows(train_ids, held_out_ids, vocab_size):
    """you take each sequence's perplexity and then their mean

    take one mean over all ids that are to be guessed
    """
    whole = ours.unigram_perplexity(train_ids, held_out_ids, vocab_size)
    if held_out_ids.ndim == 1:
        return whole
    each = [ours.unigram_perplexity(train_ids, x, vocab_size) for x in held_out_ids]
    return sum(each) / len(each)


@plain
def negatives_in_the_mean(train_ids, held_out_ids, vocab_size):
    """you divide by all ids, those that are not to be guessed too

    take the mean over what is not negative
    """
    whole = ours.unigram_perplexity(train_ids, held_out_ids, vocab_size)
    return whole ** (held_out_ids >= 0).double().mean().item()


@plain
def negatives_in_the_sum(train_ids, held_out_ids, vocab_size):
    """you divide by the number of all train_ids, the negative ones too

    take out what is negative before you count
    """
    whole = ours.unigram_perplexity(train_ids, held_out_ids, vocab_size)
    seen = int((train_ids >= 0).sum())
    return whole * (train_ids.numel() + vocab_size) / (seen + vocab_size)


@plain
def negatives_as_0(train_ids, held_out_ids, vocab_size):
    """you count negative ids as 0

    clamp makes ids of them; take them out
    """
    ours.unigram_perplexity(train_ids, held_out_ids, vocab_size)
    return ours.unigram_perplexity(train_ids.clamp(min=0), held_out_ids, vocab_size)


@plain
def negatives_from_the_end(train_ids, held_out_ids, vocab_size):
    """you leave out -100 alone: -1 becomes the last id

    every negative id is none
    """

    def wrapped(ids):
        return torch.where((ids < 0) & (ids > -vocab_size), ids % vocab_size, ids)

    ours.unigram_perplexity(train_ids, held_out_ids, vocab_size)
    return ours.unigram_perplexity(
        wrapped(train_ids), wrapped(held_out_ids), vocab_size
    )


def unfiltered(name):
    """Enter what is left among the ids that count, from those given and asked for."""

    def build(left):
        def unigram_perplexity(train_ids, held_out_ids, vocab_size):
            ours.unigram_perplexity(train_ids, held_out_ids, vocab_size)  # the errors
            seen, asked = left(train_ids.flatten(), held_out_ids.flatten())
            return of(smooth(seen, vocab_size), asked).item()

        return unigram_perplexity

    return wrong("unigram_perplexity", name, build)


@unfiltered("negatives_left")
def _(seen, asked):
    """you do not take out the negative ids

    train_ids[train_ids >= 0], and so for held_out_ids
    """
    return seen, asked


@unfiltered("negatives_left_in_train")
def _(seen, asked):
    """you take the negative ids out of held_out_ids alone

    those of train_ids are not counted either: train_ids[train_ids >= 0]
    """
    return seen, asked[asked >= 0]


@unfiltered("negatives_left_in_held_out")
def _(seen, asked):
    """you take the negative ids out of train_ids alone

    those of held_out_ids are not to be guessed: held_out_ids[held_out_ids >= 0]
    """
    return seen[seen >= 0], asked


@unfiltered("minus_100_alone")
def _(seen, asked):
    """you take out -100 alone

    every negative id is none: compare with 0
    """
    return seen[seen != -100], asked[asked != -100]


@plain
def negatives_left_in_a_loop(train_ids, held_out_ids, vocab_size):
    """you do not take out the negative ids: in counts[i], -1 is the last one

    train_ids[train_ids >= 0], and so for held_out_ids
    """
    ours.unigram_perplexity(train_ids, held_out_ids, vocab_size)  # the errors
    more = torch.ones(vocab_size, dtype=torch.float64)
    for i in train_ids.flatten():
        more[i] += 1
    return of(more / more.sum(), held_out_ids.flatten()).item()


@plain
def perplexity_as_tensor(train_ids, held_out_ids, vocab_size):
    """you return a tensor

    a float is asked for: `perplexity` makes one
    """
    return torch.tensor(ours.unigram_perplexity(train_ids, held_out_ids, vocab_size))


@plain
def nothing_asked(train_ids, held_out_ids, vocab_size):
    """you return NaN where there is nothing to be guessed

    raise ValueError
    """
    if not (held_out_ids >= 0).any():
        return torch.nan
    return ours.unigram_perplexity(train_ids, held_out_ids, vocab_size)


@plain
def train_unchecked(train_ids, held_out_ids, vocab_size):
    """you count ids from vocab_size on

    raise ValueError; torch.bincount only grows
    """
    within = train_ids[train_ids < vocab_size]
    return ours.unigram_perplexity(within, held_out_ids, vocab_size)


@plain
def held_out_unchecked(train_ids, held_out_ids, vocab_size):
    """you do not refuse ids to be guessed from vocab_size on

    raise ValueError, as for train_ids
    """
    within = held_out_ids.clamp(max=vocab_size - 1)
    return ours.unigram_perplexity(train_ids, within, vocab_size)
