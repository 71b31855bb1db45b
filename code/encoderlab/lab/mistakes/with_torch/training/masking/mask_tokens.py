"""What goes wrong with the choice of what is masked, in PyTorch."""

import numpy as np
import torch

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch.training import masking as ours


class Masking:
    """The masking in steps: who may be chosen, the choice, the fates, the results."""

    mask_share, drawn_to, nothing = 0.8, 0.9, -100

    def __init__(self, ids, mask_id, vocab_size, special_ids, probability, generator):
        self.ids, self.mask_id, self.vocab_size = ids, mask_id, vocab_size
        self.special = torch.tensor(sorted(special_ids))
        self.p, self.generator = probability, generator

    def numbers(self, *shape):
        """Numbers from 0 to 1, one for each token if no shape is given."""
        return torch.rand(shape or self.ids.shape, generator=self.generator)

    def may_be(self):
        """Who may be chosen."""
        return ~torch.isin(self.ids, self.special)

    def choose(self):
        """Choose the tokens."""
        return self.may_be() & (self.numbers() < self.p)

    def fates(self):
        """A number for each token: [MASK] below 0.8, another below 0.9."""
        return self.numbers()

    def words(self):
        """The ids that may be drawn."""
        every = torch.arange(self.vocab_size)
        return every[~torch.isin(every, self.special)]

    def draw(self):
        """Draw a token for each place."""
        words = self.words().to(self.ids)
        return words[(self.numbers() * len(words)).long()]

    def targets(self, chosen, inputs):
        """What is to be guessed."""
        return self.ids.masked_fill(~chosen, self.nothing)

    def results(self):
        """Both results."""
        chosen = self.chosen = self.choose()
        fates, drawn = self.fates(), self.draw()
        inputs = torch.where(chosen & (fates < self.drawn_to), drawn, self.ids)
        inputs = inputs.masked_fill(chosen & (fates < self.mask_share), self.mask_id)
        return inputs, self.targets(chosen, inputs)


def as_function(steps):
    """Build a solution from its steps; what is refused is refused as it should be."""

    def mask_tokens(
        token_ids,
        *,
        mask_id,
        vocab_size,
        special_ids,
        probability=0.15,
        generator=None,
    ):
        low, high = token_ids.aminmax()
        right = 0 <= probability <= 1 and mask_id in special_ids
        ids = {int(low), int(high), *special_ids}
        if not right or min(ids) < 0 or max(ids) >= vocab_size:
            raise ValueError("probability or ids")
        if len(special_ids) == vocab_size:
            raise ValueError("no token to draw")
        whole = steps(
            token_ids, mask_id, vocab_size, special_ids, probability, generator
        )
        return whole.results()

    return mask_tokens


here = wrong("mask_tokens", build=as_function)


@here
class AllMasks(Masking):
    """you replace every chosen token by [MASK]

    80 % become [MASK], 10 % a drawn token, 10 % stay as they are
    """

    mask_share = 1.0


@here
class NoneStays(Masking):
    """you replace all chosen tokens: none stays as it is

    of the 20 % that do not become [MASK], one half stays
    """

    drawn_to = 1.0


@here
class NineTenths(Masking):
    """you put [MASK] for 90 % and draw for 10 %: none stays as it is

    80 % become [MASK], 10 % a drawn token, 10 % stay
    """

    mask_share, drawn_to = 0.9, 1.0


@here
class OneInTwentyStays(Masking):
    """you draw tokens for 15 %, and let 5 % stay as they are

    of the 20 % that do not become [MASK], one half is drawn and one half stays
    """

    drawn_to = 0.95


@here
class ExactShares(Masking):
    """you give [MASK] to exactly 80 % of the chosen tokens

    each has a fate of its own: a number below 0.8, or not
    """

    def fates(self):
        numbers = self.numbers().masked_fill(~self.chosen, 2.0)
        ranks = numbers.flatten().argsort().argsort().view_as(numbers)
        return ranks / max(int(self.chosen.sum()), 1)


@here
class NoneDrawn(Masking):
    """you draw no tokens: what does not become [MASK] stays as it is

    of the 20 % that do not become [MASK], one half is drawn at random
    """

    drawn_to = 0.8


@here
class MostDrawn(Masking):
    """you draw a token for 80 % and put [MASK] for 10 %

    it is the other way round
    """

    mask_share = 0.1


@here
class MostStay(Masking):
    """80 % of your chosen tokens stay as they are

    80 % become [MASK], 10 % a drawn token, 10 % stay
    """

    mask_share, drawn_to = 0.1, 0.2


@here
class TenthOfTheRest(Masking):
    """you draw a token for 10 % of the 20 % that are left: 2 %, and 18 % stay

    half of what is left is drawn; or use one number for both limits, 0.8 and 0.9
    """

    drawn_to = 0.82


@here
class DrawnOverTheMasks(Masking):
    """you draw a token for 10 % of all chosen ones, [MASK] or not: 72 % keep theirs

    draw among those that did not become [MASK]: 10 % of all are half of the rest
    """

    mask_share, drawn_to = 0.72, 0.82


@here
class HalfOfAllDrawn(Masking):
    """you draw a token for half of all chosen ones, and overwrite [MASK] with it

    half of the rest: leave out those that became [MASK]
    """

    mask_share, drawn_to = 0.4, 0.9


@here
class FateOfTheChoice(Masking):
    """you use one number twice: who is chosen has a number that means [MASK]

    a number below 0.15 is below 0.8 as well; draw the fates anew
    """

    def numbers(self, *shape):
        if not hasattr(self, "first"):
            self.first = super().numbers(*shape)
        return self.first

    def draw(self):
        words = self.words().to(self.ids)
        each = torch.rand(self.ids.shape, generator=self.generator)
        return words[(each * len(words)).long()]


@here
class DrawnByTheFate(Masking):
    """you draw the token from the number of its fate: always the same few ids

    that number is from 0.8 to 0.9; draw another
    """

    def fates(self):
        self.fate = super().fates()
        return self.fate

    def draw(self):
        words = self.words().to(self.ids)
        return words[(self.fate * len(words)).long()]


@here
class AnyId(Masking):
    """you draw from all ids: [CLS] and padding come in

    draw from the ids that are not in special_ids
    """

    def words(self):
        return torch.arange(self.vocab_size)


@here
class AfterTheSpecialOnes(Masking):
    """you take the first ids for the special ones, and draw from those after them

    special ids may be any; list all ids that are none
    """

    def words(self):
        return torch.arange(len(self.special), self.vocab_size)


class AfterTheFirst(Masking):
    """The special ids taken for the first ones, in the choice and in the draw."""

    @property
    def begin(self):
        """The first id that is taken for a token."""
        return len(self.special)

    def may_be(self):
        return self.ids >= self.begin

    def draw(self):
        shape, source = self.ids.shape, self.generator
        drawn = torch.randint(self.begin, self.vocab_size, shape, generator=source)
        return drawn.to(self.ids)


class AfterTheMask(AfterTheFirst):
    """[MASK] taken for the last of the special ids."""

    @property
    def begin(self):
        return self.mask_id + 1


@here
class FirstOnesSpecial(AfterTheFirst):
    """you take the first ids for the special ones: others are chosen and drawn

    special ids may be any: torch.isin(token_ids, …) says which tokens have one
    """


@here
class FirstOnesNotChosen(AfterTheFirst):
    """you take the first ids for the special ones, and choose from those after them

    special ids may be any: torch.isin(token_ids, …) says which tokens have one
    """

    draw = Masking.draw


@here
class UpToMaskSpecial(AfterTheMask):
    """you take all ids up to mask_id for special ones: others are chosen and drawn

    special ids may be any: torch.isin(token_ids, …) says which tokens have one
    """


@here
class UpToMaskNotChosen(AfterTheMask):
    """you choose among the ids above mask_id

    special ids may be any: torch.isin(token_ids, …) says which tokens have one
    """

    draw = Masking.draw


@here
class UpToTheLastSpecial(AfterTheFirst):
    """you take all ids up to the last special one for special ones

    special ids may be any: torch.isin(token_ids, …) says which tokens have one
    """

    @property
    def begin(self):
        return int(self.special.max()) + 1


@here
class FirstOnesSpecialOneNumber(AfterTheFirst, FateOfTheChoice):
    """you take the first ids for the special ones, and use one number twice

    special ids may be any; draw the fates anew, as who is chosen has a small number
    """


@here
class UpToMaskSpecialOneNumber(AfterTheMask, FateOfTheChoice):
    """you take all ids up to mask_id for special ones, and use one number twice

    special ids may be any; draw the fates anew, as who is chosen has a small number
    """


@here
class UpToMaskNotChosenOneNumber(AfterTheMask, FateOfTheChoice):
    """you choose among the ids above mask_id, and use one number twice

    special ids may be any; draw the fates anew, as who is chosen has a small number
    """

    draw = FateOfTheChoice.draw


@here
class MaskDrawn(Masking):
    """you draw [MASK] too

    mask_id is one of the special ids, none of which is drawn
    """

    def words(self):
        return torch.cat([super().words(), torch.tensor([self.mask_id])])


@here
class LastNeverDrawn(Masking):
    """you never draw the last token

    torch.randint leaves its upper end out already
    """

    def words(self):
        words = super().words()
        return words[:-1] if len(words) > 2 else words


@here
class FromTheText(Masking):
    """you draw from the tokens of the text: rare ones hardly ever come

    each id that is not special is drawn equally often
    """

    def draw(self):
        some = self.ids[self.may_be()]
        if len(some) == 0:
            return self.ids
        return some[(self.numbers() * len(some)).long()]


@here
class OneTokenForAll(Masking):
    """you draw one token and put it everywhere

    draw one for each place
    """

    def draw(self):
        words = self.words().to(self.ids)
        return words[(self.numbers(1) * len(words)).long()].expand(self.ids.shape)


@here
class OneTokenForEachSequence(Masking):
    """you draw one token for each sequence

    draw one for each place
    """

    def draw(self):
        words = self.words().to(self.ids)
        numbers = self.numbers(*self.ids.shape[:-1], 1)
        return words[(numbers * len(words)).long()].expand(self.ids.shape)


@here
class DrawnByTheChoice(Masking):
    """you draw the token from the number of the choice: the last ones never come

    of a chosen token that number is below `probability`; draw another
    """

    def choose(self):
        self.number = self.numbers()
        return self.may_be() & (self.number < self.p)

    def draw(self):
        words = self.words().to(self.ids)
        return words[(self.number * len(words)).long()]


@here
class EndsHalfAsOften(Masking):
    """you round to the nearest place: first and last token come half as often

    cut off, by long(), or use torch.randint(len(words), …)
    """

    def draw(self):
        words = self.words().to(self.ids)
        return words[(self.numbers() * (len(words) - 1)).round().long()]


@here
class DrawnForAll(Masking):
    """you draw tokens for those that are not chosen as well

    a fate counts where the token is chosen: join both by &
    """

    def results(self):
        chosen, drawn = self.choose(), self.draw()
        masks = chosen & (self.fates() < self.mask_share)
        inputs = self.ids.masked_fill(masks, self.mask_id)
        others = self.may_be() & ~masks & (self.numbers() < 0.5)
        return torch.where(others, drawn, inputs), self.targets(chosen, inputs)


@here
class FirstNeverChosen(Masking):
    """you never choose the first position

    where it holds [CLS], special_ids says so
    """

    def choose(self):
        chosen = super().choose()
        chosen[..., 0] = False
        return chosen


@here
class AtLeastOne(Masking):
    """you choose a token in every sequence, though none may be

    each token is chosen by itself; how many, is left to chance
    """

    def choose(self):
        chosen = super().choose()
        first = self.may_be() & (self.may_be().cumsum(-1) == 1)
        return chosen | (first & ~chosen.any(-1, keepdim=True))


@here
class SpecialChosen(Masking):
    """you choose special tokens too

    whose id is in special_ids is never chosen
    """

    def may_be(self):
        return torch.ones_like(self.ids, dtype=torch.bool)


@here
class PadsChosen(Masking):
    """you choose padding

    all of special_ids are left out, not [CLS], [SEP] and [MASK] alone
    """

    def may_be(self):
        return super().may_be() | (self.ids == 0)


@here
class MasksAlone(Masking):
    """of the special ids you leave out [MASK] alone

    whose id is in special_ids is never chosen
    """

    def may_be(self):
        return self.ids != self.mask_id


@here
class MasksAndPadsAlone(Masking):
    """of the special ids you leave out [MASK] and 0 alone

    whose id is in special_ids is never chosen
    """

    def may_be(self):
        return (self.ids != self.mask_id) & (self.ids != 0)


@here
class SpecialTargets(Masking):
    """you put special tokens into the targets, though their inputs stay

    who is chosen is decided once: for the inputs and for the targets
    """

    def choose(self):
        self.every = self.numbers() < self.p
        return self.every & self.may_be()

    def targets(self, chosen, inputs):
        return self.ids.masked_fill(~self.every, self.nothing)


@here
class TargetsEverywhere(Masking):
    """your targets hold every token: most of them can be seen

    -100 where a token is not chosen
    """

    def targets(self, chosen, inputs):
        return self.ids.clone()


@here
class TargetsOfAllWords(Masking):
    """your targets hold every token that is not special, chosen or not

    -100 where a token is not chosen: most of the others can be seen
    """

    def targets(self, chosen, inputs):
        return self.ids.masked_fill(~self.may_be(), self.nothing)


@here
class ChosenReturned(Masking):
    """you return who is chosen, True or False, in place of the targets

    the targets are the chosen tokens' ids, and -100 everywhere else
    """

    def targets(self, chosen, inputs):
        return chosen


@here
class ChosenAsNumbers(Masking):
    """your targets are 1 where a token is chosen, and 0 elsewhere

    the targets are the chosen tokens' ids, and -100 everywhere else
    """

    def targets(self, chosen, inputs):
        return chosen.to(self.ids)


@here
class TargetsHidden(Masking):
    """your targets are taken from what is hidden already

    the targets are the ids that were there
    """

    def targets(self, chosen, inputs):
        return inputs.masked_fill(~chosen, self.nothing)


@here
class TargetsOfTheMasks(Masking):
    """your targets are those that became [MASK] alone

    a chosen token is guessed whatever became of it
    """

    def targets(self, chosen, inputs):
        shown = ~chosen | (inputs != self.mask_id)
        return self.ids.masked_fill(shown, self.nothing)


@here
class TargetsOfTheChanged(Masking):
    """your targets leave out the chosen tokens that stay as they are

    a chosen token is guessed whatever became of it
    """

    def targets(self, chosen, inputs):
        return self.ids.masked_fill(inputs == self.ids, self.nothing)


@here
class TargetsOfTheOthers(Masking):
    """your targets are the tokens that are not chosen

    masked_fill fills where its mask is True: ~chosen
    """

    def targets(self, chosen, inputs):
        return self.ids.masked_fill(chosen, self.nothing)


@here
class MinusOne(Masking):
    """you fill the targets with -1

    -100 is what the loss ignores
    """

    nothing = -1


@here
class Zero(Masking):
    """you fill the targets with 0, which is an id: padding would be guessed

    -100 is what the loss ignores
    """

    nothing = 0


@here
class ChosenTwice(Masking):
    """you choose once for the inputs and once more for the targets

    keep the choice in a variable
    """

    def targets(self, chosen, inputs):
        return super().targets(self.choose(), inputs)


@here
class FatesOfAll(Masking):
    """you hide 80 % of all tokens, chosen or not

    a fate counts where the token is chosen: join both by &
    """

    def results(self):
        chosen, fates, drawn = self.choose(), self.fates(), self.draw()
        may_be = self.may_be()
        inputs = torch.where(may_be & (fates < self.drawn_to), drawn, self.ids)
        inputs = inputs.masked_fill(may_be & (fates < self.mask_share), self.mask_id)
        return inputs, self.targets(chosen, inputs)


@here
class ProbabilityIgnored(Masking):
    """you always choose 15 %

    use `probability`
    """

    def choose(self):
        return self.may_be() & (self.numbers() < 0.15)


@here
class ChosenAbove(Masking):
    """you choose where the number is above `probability`: 85 %

    a number from 0 to 1 is below p with probability p
    """

    def choose(self):
        return self.may_be() & (self.numbers() >= self.p)


@here
class SameNumberInEach(Masking):
    """you choose the same number of tokens in every sequence

    each token is chosen by itself; how many, is left to chance
    """

    def choose(self):
        may_be = self.may_be()
        order = (self.numbers() + (~may_be)).argsort(-1).argsort(-1)
        return may_be & (order < (self.p * may_be.sum(-1, keepdim=True)).round())


@here
class SameNumberInAll(Masking):
    """you choose the same number of tokens in every call

    each token is chosen by itself; how many, is left to chance
    """

    def choose(self):
        may_be = self.may_be()
        order = (self.numbers() + (~may_be)).flatten().argsort().argsort()
        return may_be & (order.view_as(may_be) < round(self.p * int(may_be.sum())))


@here
class OneChoiceForAll(Masking):
    """you choose the same positions in every sequence

    draw a number for each token: torch.rand(token_ids.shape)
    """

    def choose(self):
        return self.may_be() & (self.numbers(self.ids.shape[-1]) < self.p)


@here
class WholeSequences(Masking):
    """you choose whole sequences

    draw a number for each token: torch.rand(token_ids.shape)
    """

    def choose(self):
        return self.may_be() & (self.numbers(*self.ids.shape[:-1], 1) < self.p)


@here
class OneFateForAll(Masking):
    """you draw one fate for all chosen tokens

    draw a number for each token: torch.rand(token_ids.shape)
    """

    def fates(self):
        return self.numbers(1)


@here
class OneFateForEachPosition(Masking):
    """you draw one fate for each position of all sequences

    draw a number for each token: torch.rand(token_ids.shape)
    """

    def fates(self):
        return self.numbers(self.ids.shape[-1]).expand(self.ids.shape)


@here
class OneFateForEachSequence(Masking):
    """you draw one fate for each sequence

    draw a number for each token: torch.rand(token_ids.shape)
    """

    def fates(self):
        return self.numbers(*self.ids.shape[:-1], 1)


@here
class ShareInOrder(Masking):
    """your first 80 % of the chosen tokens become [MASK], the last 10 % stay

    each token's fate is drawn by itself
    """

    def fates(self):
        place = self.chosen.flatten().cumsum(0).view_as(self.chosen) - 0.5
        return place / self.chosen.sum()


@here
class NeighboursToo(Masking):
    """you choose tokens with their neighbours

    each token is chosen by itself
    """

    def choose(self):
        first = self.numbers() < 1 - (1 - self.p) ** 0.5
        return self.may_be() & (first | first.roll(1, -1))


@here
class SameInEveryCall(Masking):
    """you draw from a generator of your own, of the same seed in every call

    use `generator`; seeds are set once, outside
    """

    def __init__(self, *args):
        super().__init__(*args[:-1], torch.Generator())


@here
class SeedInside(Masking):
    """you call torch.manual_seed inside: the same is drawn in every call

    seeds are set once, outside
    """

    def __init__(self, *args):
        super().__init__(*args)
        torch.manual_seed(0)


@here
class NewGenerator(Masking):
    """where no generator is given you make a new one, whose seed is always the same

    None stands for PyTorch's own: hand it on as it is
    """

    def __init__(self, *args):
        super().__init__(*args[:-1], args[-1] or torch.Generator())


@here
class ChanceOfNumpy(Masking):
    """you draw with NumPy: neither `generator` nor torch.manual_seed decides

    torch.rand(…, generator=generator)
    """

    def numbers(self, *shape):
        return torch.from_numpy(np.random.default_rng().random(shape or self.ids.shape))


@here
class GeneratorIgnored(Masking):
    """you do not use `generator`

    torch.rand(…, generator=generator), and so in each draw
    """

    def __init__(self, *args):
        super().__init__(*args[:-1], None)


@here
class GeneratorForTheChoiceAlone(Masking):
    """you use `generator` in some of the draws and not in others

    choice, fates and drawn tokens all come from it
    """

    def fates(self):
        self.generator = None
        return super().fates()


@here
class GeneratorSeeded(Masking):
    """you seed the generator that you are given: it begins anew in every call

    it goes on from where it is
    """

    def choose(self):
        if self.generator is not None:
            self.generator.manual_seed(self.generator.initial_seed())
        return super().choose()


@here
class SpecialIdsChanged(Masking):
    """you change special_ids, which belongs to the caller

    make a set of your own: set(special_ids) | {...}
    """

    def __init__(self, ids, mask_id, vocab_size, special_ids, *others):
        super().__init__(ids, mask_id, vocab_size, special_ids, *others)
        if isinstance(special_ids, set):
            special_ids.discard(mask_id)


@here
class ChangedInPlace(Masking):
    """you write into token_ids

    work on token_ids.clone(), or with torch.where and masked_fill
    """

    def results(self):
        inputs, targets = super().results()
        self.ids.copy_(inputs)
        return self.ids, targets


@here
class AlwaysInt64(Masking):
    """your results are int64, whatever token_ids are

    torch.full_like and masked_fill keep the dtype; a fresh tensor has its own
    """

    def results(self):
        inputs, targets = super().results()
        return inputs.long(), targets.long()


@here
class ResultsSwapped(Masking):
    """you return the targets first

    inputs, then targets
    """

    def results(self):
        return super().results()[::-1]


def unrefused(mend):
    """Build a solution that sets wrong arguments right in place of refusing them."""

    def mask_tokens(token_ids, **how):
        return ours.mask_tokens(**mend({"token_ids": token_ids, **how}))

    return mask_tokens


def accepting(name):
    """Enter a mistake that accepts what is to be refused."""
    return wrong("mask_tokens", name, unrefused)


@accepting("probability_unchecked")
def _(how):
    """you accept a probability outside [0, 1]

    raise ValueError; NaN is outside too: `not 0 <= probability <= 1`
    """
    p = how.get("probability", 0.15)
    return how | {"probability": p if 0 <= p <= 1 else 0.0}


@accepting("ids_unchecked")
def _(how):
    """you accept ids below 0, or from vocab_size on

    raise ValueError
    """
    return how | {"token_ids": how["token_ids"].clamp(0, how["vocab_size"] - 1)}


@accepting("special_ids_unchecked")
def _(how):
    """you accept special ids below 0, or from vocab_size on

    raise ValueError
    """
    return how | {
        "special_ids": {i for i in how["special_ids"] if 0 <= i < how["vocab_size"]}
    }


@accepting("mask_not_special")
def _(how):
    """you accept special_ids without mask_id: [MASK] would be chosen, and drawn

    raise ValueError
    """
    return how | {"special_ids": {*how["special_ids"], how["mask_id"]}}


@accepting("nothing_to_draw")
def _(how):
    """you accept special_ids that leave no token to draw

    raise ValueError
    """
    every = len(how["special_ids"]) == how["vocab_size"]
    return how | {"special_ids": {how["mask_id"]} if every else how["special_ids"]}
