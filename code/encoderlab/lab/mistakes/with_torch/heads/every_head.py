"""What goes wrong with any head on top of an encoder in PyTorch."""

from copy import deepcopy

import torch
from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import heads as ours

HEADS = (ours.TokenClassifier, ours.SequenceClassifier, ours.MaskedLanguageModel)


def of_all(piece):
    """Enter for every head what is made from its right class."""
    for right in HEADS:
        wrong(right.__name__, build=lambda piece, right=right: piece(right))(piece)
    return piece


def ending_with(step, right):
    """The head with one step more, after its logits."""
    # the head that guesses tokens returns them from both of its methods
    method = "decode" if right is ours.MaskedLanguageModel else "forward"

    def longer(self, *inputs, **options):
        return step(getattr(right, method)(self, *inputs, **options))

    return type("Wrong", (right,), {method: longer})


@of_all
def probabilities(right):
    """you return probabilities

    logits are asked for: the loss takes the softmax itself
    """
    return ending_with(lambda logits: logits.softmax(-1), right)


@of_all
def log_probabilities(right):
    """you return logarithms of probabilities

    logits are asked for: the loss takes log_softmax itself
    """
    return ending_with(lambda logits: logits.log_softmax(-1), right)


@of_all
def best_chosen(right):
    """you return which score is the highest: no gradient comes back through argmax

    return the logits; whoever wants the best class or token takes the argmax
    """
    return ending_with(lambda logits: logits.argmax(-1), right)


@of_all
def options_dropped(right):
    """you do not hand the options on to the encoder: a mask by name is lost

    call the encoder with `*inputs, **options`
    """

    class Wrong(right):
        def forward(self, *inputs, **options):
            return super().forward(*inputs)

    return Wrong


@of_all
def first_input_only(right):
    """you hand only the first input on to the encoder: a mask that follows is lost

    call the encoder with `*inputs, **options`
    """

    class Wrong(right):
        def forward(self, *inputs, **options):
            return super().forward(inputs[0], **options)

    return Wrong


@of_all
def encoder_copied(right):
    """you copy the encoder: training the model leaves the one you were given as it is

    keep the encoder itself
    """

    class Wrong(right):
        def __init__(self, encoder, *num_classes):
            super().__init__(deepcopy(encoder), *num_classes)

    return Wrong


@of_all
def encoder_drawn_anew(right):
    """you draw new weights for the encoder too

    self.apply(…) goes through all parts; the encoder may be trained already
    """

    class Wrong(right):
        def __init__(self, encoder, *sizes):
            super().__init__(encoder, *sizes)
            with torch.no_grad():
                for part in self.modules():
                    if isinstance(part, nn.Linear | nn.Embedding):
                        part.weight.normal_(std=0.02)

    return Wrong
