"""What goes wrong with early stopping in PyTorch."""

from copy import deepcopy
from math import inf, isnan

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch.training import stopping as ours

here = wrong("EarlyStopping")


class Steps:
    """The class with a counter, in steps: ``is_better``, ``copy``, ``restore``."""

    def __init__(self, patience, *, higher_is_better=False):
        ours.EarlyStopping(patience)  # the errors
        self.patience, self.higher_is_better = patience, higher_is_better
        self.best, self.best_step, self.waited = None, None, 0
        self.history, self.weights = [], {}

    @property
    def is_over(self):
        """Whether it has waited long enough."""
        return self.waited >= self.patience

    def is_better(self, value):
        """Whether a figure is a new best."""
        if isnan(value) or self.best is None:
            return not isnan(value)
        return self.beats(value, self.best)

    def beats(self, value, other):
        """Whether a figure is better than another."""
        return value > other if self.higher_is_better else value < other

    def update(self, step, value, model):
        """Note the figure and, if it is the best, the weights."""
        self.history.append((step, value))
        if self.is_better(value):
            self.best, self.best_step, self.waited = value, step, 0
            self.weights = self.copy(model)
        else:
            self.waited += 1

    def copy(self, model):
        """Copy what is to be remembered."""
        return {name: t.clone() for name, t in model.state_dict().items()}

    def restore(self, model):
        """Give the weights back."""
        if self.weights:
            model.load_state_dict(self.weights)


@here
class OneTooLate(Steps):
    """you stop one evaluation too late

    is_over is True as soon as `patience` evaluations set no new best: >=, not >
    """

    @property
    def is_over(self):
        return self.waited > self.patience


@here
class OneTooEarly(Steps):
    """you stop one evaluation too early

    the best evaluation itself is not one of those that are waited for
    """

    @property
    def is_over(self):
        return bool(self.history) and self.waited + 1 >= self.patience


@here
class OverOnce(Steps):
    """you say that it is over after `patience` evaluations, and not after more

    >= instead of ==
    """

    @property
    def is_over(self):
        return self.waited == self.patience


@here
class AgainstTheLast(Steps):
    """you compare a figure with the last one

    compare it with the best so far
    """

    def is_better(self, value):
        if len(self.history) < 2 or self.best is None:
            return not isnan(value)
        return self.beats(value, self.history[-2][1])


@here
class NeverReset(Steps):
    """you count all evaluations that were no better, not those in a row

    a new best puts the counter back to 0
    """

    def update(self, step, value, model):
        before = self.waited
        super().update(step, value, model)
        self.waited = before + (self.waited > 0)


@here
class TiesAreBetter(Steps):
    """you take an equal figure for a better one

    the first of equals is the best: < or >, not <= or >=
    """

    def beats(self, value, other):
        return value == other or super().beats(value, other)


@here
class LeastChange(Steps):
    """you take a figure for better only if it is so by some margin

    whatever is better is: the question is patience's alone
    """

    def beats(self, value, other):
        margin = 1e-3 if self.higher_is_better else -1e-3
        return super().beats(value, other + margin)


@here
class AlwaysLower(Steps):
    """you always take the lower figure for the better one

    use `higher_is_better`
    """

    def beats(self, value, other):
        return value < other


@here
class AlwaysHigher(Steps):
    """you always take the higher figure for the better one

    `higher_is_better` is False unless it is given: a loss
    """

    def beats(self, value, other):
        return value > other


@here
class Reversed(Steps):
    """you turn `higher_is_better` round

    True is for an accuracy, False for a loss
    """

    def beats(self, value, other):
        return value < other if self.higher_is_better else value > other


@here
class PatienceInSteps(Steps):
    """you count the steps of training since the best

    `patience` counts evaluations, between which there may be many steps
    """

    @property
    def is_over(self):
        if not self.history:
            return False
        return self.history[-1][0] - (self.best_step or 0) >= self.patience


@here
class StaysOver(Steps):
    """you never take back that it is over

    after a new best the last evaluations did set one: is_over is False
    """

    over = False

    def update(self, step, value, model):
        super().update(step, value, model)
        self.over = self.over or self.waited >= self.patience

    @property
    def is_over(self):
        return self.over


@here
class NanStays(Steps):
    """you keep a first figure that is NaN as the best: nothing is ever better than it

    every comparison with NaN is False: ask math.isnan first
    """

    def is_better(self, value):
        return self.best is None or self.beats(value, self.best)


@here
class NanIsBetter(Steps):
    """you take NaN for better: it is not worse either, every comparison is False

    ask math.isnan first; NaN is worse than any figure
    """

    def is_better(self, value):
        if self.best is None:
            return True
        if self.higher_is_better:
            return not value <= self.best
        return not value >= self.best


@here
class NanIsBest(Steps):
    """you take NaN for the best there is, as np.argmin and torch.argmin do

    ask math.isnan first; NaN is worse than any figure
    """

    def is_better(self, value):
        if self.best is None or isnan(self.best):
            return self.best is None
        return isnan(value) or self.beats(value, self.best)


@here
class NanNotCounted(Steps):
    """you do not count an evaluation that gave NaN

    it set no new best, and so it is one of those that are waited for
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        if isnan(value):
            self.waited -= 1


@here
class NanNotInTheHistory(Steps):
    """you leave NaN out of the history

    each evaluation is noted, with its step
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        if isnan(value):
            self.history.pop()


@here
class NanEnds(Steps):
    """you stop at the first NaN

    NaN is worse than any figure, and no more than that
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        if isnan(value):
            self.waited = self.patience


@here
class StartsAtInfinity(Steps):
    """you begin with a best of infinity: a first loss of infinity is never the best

    begin with None: any figure but NaN is better than none
    """

    def is_better(self, value):
        start = -inf if self.higher_is_better else inf
        return self.beats(value, start if self.best is None else self.best)


@here
class StartsAtZero(Steps):
    """you begin with a best of 0: a figure below 0 may be the highest there is

    begin with None: any figure but NaN is better than none
    """

    def is_better(self, value):
        start = 0.0 if self.higher_is_better else inf
        return self.beats(value, start if self.best is None else self.best)


@here
class StepsFromZero(Steps):
    """you begin with a best_step of 0

    it is None until there is a best evaluation
    """

    def __init__(self, patience, *, higher_is_better=False):
        super().__init__(patience, higher_is_better=higher_is_better)
        self.best_step = 0


@here
class Places(Steps):
    """your best_step counts the evaluations

    it is the step that was given with the best figure
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        if self.waited == 0:
            self.best_step = len(self.history)


@here
class LastStep(Steps):
    """your best_step is the last one

    it is the step that was given with the best figure
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        self.best_step = step


@here
class Methods(Steps):
    """your best_step or is_over is a method

    both are read without brackets: put @property above
    """

    def is_over(self):
        return self.waited >= self.patience


@here
class NotCopied(Steps):
    """you keep the state_dict itself: training changes its tensors

    clone each tensor, or deepcopy the whole
    """

    def copy(self, model):
        return dict(model.state_dict())


@here
class ParametersAlone(Steps):
    """you keep the parameters alone

    state_dict() holds the buffers too, such as a BatchNorm's means
    """

    def copy(self, model):
        return {name: p.detach().clone() for name, p in model.named_parameters()}

    def restore(self, model):
        model.load_state_dict(self.weights, strict=False)


@here
class LastKept(Steps):
    """you keep the weights of the last evaluation

    keep a copy only when there is a new best
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        self.weights = self.copy(model)


@here
class FirstKept(Steps):
    """you keep the weights of the first evaluation

    each new best replaces what was kept
    """

    def copy(self, model):
        return self.weights or super().copy(model)


@here
class KeptWithoutFigure(Steps):
    """you keep the weights of a first evaluation that gave NaN

    where every figure was NaN, the model keeps its own
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        self.weights = self.weights or self.copy(model)


@here
class NeverRestored(Steps):
    """you do not give the weights back

    model.load_state_dict writes them into the model
    """

    def restore(self, model):
        pass


@here
class NothingToRestore(Steps):
    """your restore fails where nothing was kept

    the model keeps its own weights then
    """

    def restore(self, model):
        model.load_state_dict(self.weights)


@here
class NoneToRestore(Steps):
    """your restore hands None to load_state_dict where nothing was kept

    the model keeps its own weights then
    """

    def restore(self, model):
        model.load_state_dict(self.weights or None)


@here
class GivenAway(Steps):
    """you put what you keep into the model itself: more training changes it

    load_state_dict copies the values into the model's own tensors
    """

    def restore(self, model):
        kept = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        for name, tensor in self.weights.items():
            kept[name].data = tensor


@here
class ParametersReplaced(Steps):
    """you replace the model's parameters: an optimiser goes on with the old ones

    load_state_dict copies the values, unless it is told assign=True
    """

    def restore(self, model):
        if self.weights:
            model.load_state_dict(deepcopy(self.weights), assign=True)


@here
class RestoredUnasked(Steps):
    """you put the best weights back while the training goes on

    `restore` does that, when it is called
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        if self.waited:
            self.restore(model)


@here
class RestoredOnce(Steps):
    """you forget the weights when they were restored once

    keep them: a model may be trained on, and restored again
    """

    def restore(self, model):
        super().restore(model)
        self.weights = {}


@here
class ForgetsWhenRestored(Steps):
    """you forget the best figure when the weights are restored: a worse one is next

    restore changes the model alone
    """

    def restore(self, model):
        super().restore(model)
        self.best = None


@here
class Shared(Steps):
    """all your watchers share one history

    make the list in __init__, not in the class
    """

    everything = []  # noqa: RUF012

    def __init__(self, patience, *, higher_is_better=False):
        super().__init__(patience, higher_is_better=higher_is_better)
        self.history = self.everything

    def update(self, step, value, model):
        del self.everything[99:]  # a notebook stays open for hours
        super().update(step, value, model)


@here
class FiguresAlone(Steps):
    """your history holds figures without their steps

    it holds pairs (step, figure)
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        self.history[-1] = value


@here
class Negated(Steps):
    """you turn the sign of accuracies round, and note them so

    the history holds the figures as they were given
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        if self.higher_is_better:
            self.history[-1] = step, -value


@here
class BestInTheHistory(Steps):
    """your history holds the best evaluations alone

    each evaluation is noted, with its step
    """

    def update(self, step, value, model):
        super().update(step, value, model)
        if self.waited:
            self.history.pop()


@here
class NoPatience(Steps):
    """you accept a patience below 1: it would be over before it begins

    raise ValueError
    """

    def __init__(self, patience, *, higher_is_better=False):
        super().__init__(max(patience, 1), higher_is_better=higher_is_better)
