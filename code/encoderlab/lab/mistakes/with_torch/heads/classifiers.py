"""What goes wrong with a classifier on top of an encoder in PyTorch."""

import torch
from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import heads as ours


def of_both(piece):
    """Enter for both classifiers what is made from their right class."""
    for right in (ours.TokenClassifier, ours.SequenceClassifier):
        wrong(right.__name__, build=lambda piece, right=right: piece(right))(piece)
    return piece


def returning(name, right):
    """Enter another last step for one classifier, from its logits to the result."""

    def build(piece):
        class Wrong(right):
            def forward(self, *inputs, **options):
                return piece(super().forward(*inputs, **options))

        return Wrong

    return wrong(right.__name__, name, build)


def reading(name, right):
    """Enter another choice of vectors, from (…, T, D) to those that are scored."""

    def build(piece):
        class Wrong(right):
            def forward(self, *inputs, **options):
                states = self.encoder(*inputs, **options).last_hidden_state
                return self.classifier(piece(states))

        return Wrong

    return wrong(right.__name__, name, build)


@of_both
def activated(right):
    """you put the scores through an activation

    the map is linear: scores may be negative
    """

    class Wrong(right):
        def forward(self, *inputs, **options):
            return super().forward(*inputs, **options).relu()

    return Wrong


@of_both
def not_registered(right):
    """you hide the encoder in a list: its parameters are not the module's

    self.encoder = encoder makes it a part of the module
    """

    class Wrong(right):
        def __init__(self, encoder, num_classes):
            super().__init__(encoder, num_classes)
            del self.encoder
            self.hidden = [encoder]

        def __getattr__(self, name):
            return self.hidden[0] if name == "encoder" else super().__getattr__(name)

    return Wrong


@of_both
def without_gradients(right):
    """you run the encoder without gradients: it is not trained

    leave out no_grad(), detach() and .data
    """

    class Wrong(right):
        def forward(self, *inputs, **options):
            cut = [p for p in self.encoder.parameters() if p.requires_grad]
            for parameter in cut:
                parameter.requires_grad_(False)
            try:
                return super().forward(*inputs, **options)
            finally:
                for parameter in cut:
                    parameter.requires_grad_()

    return Wrong


@of_both
def frozen(right):
    """you freeze the encoder: it is to be trained with the map

    leave requires_grad as it is; whoever wants it frozen says so
    """

    class Wrong(right):
        def __init__(self, encoder, num_classes):
            super().__init__(encoder, num_classes)
            encoder.requires_grad_(False)

    return Wrong


@of_both
def always_in_evaluation(right):
    """you put the encoder into evaluation mode: it never drops anything

    leave the mode to whoever calls train() and eval()
    """

    class Wrong(right):
        def forward(self, *inputs, **options):
            self.encoder.eval()
            return super().forward(*inputs, **options)

    return Wrong


@of_both
def dropout_of_its_own(right):
    """you drop values between the encoder and the map, as BERT's own classifier does

    here there is nothing between them: dropout is the encoder's
    """

    class Wrong(right):
        def __init__(self, encoder, num_classes):
            super().__init__(encoder, num_classes)
            drop = nn.Dropout(encoder.config.dropout)
            self.classifier.register_forward_pre_hook(lambda _, x: (drop(x[0]),))
            self.drop = drop

    return Wrong


@of_both
def before_the_norm(right):
    """you take the last layer's vectors from the trace, before the final norm

    `last_hidden_state` is what the encoder returns
    """

    class Wrong(right):
        def forward(self, *inputs, **options):
            return _of_states(self, right, -1, *inputs, **options)

    return Wrong


@of_both
def embeddings_scored(right):
    """you score the vectors that enter the encoder

    `last_hidden_state` is what leaves it
    """

    class Wrong(right):
        def forward(self, *inputs, **options):
            return _of_states(self, right, 0, *inputs, **options)

    return Wrong


def _of_states(model, right, place, *inputs, **options):
    states = model.encoder(*inputs, **options | {"trace": True}).hidden_states[place]
    first = right is ours.SequenceClassifier
    return model.classifier(states[:, 0] if first else states)


@of_both
def no_bias(right):
    """your map has no bias

    nn.Linear has one unless it is told bias=False
    """

    class Wrong(right):
        def __init__(self, encoder, num_classes):
            super().__init__(encoder, num_classes)
            self.classifier.bias = None

    return Wrong


@of_both
def width_of_d_ff(right):
    """your map takes vectors of the width d_ff

    the encoder returns vectors of the width d_model
    """

    class Wrong(right):
        def __init__(self, encoder, num_classes):
            super().__init__(encoder, num_classes)
            self.classifier = nn.Linear(encoder.config.d_ff, num_classes)

    return Wrong


@of_both
def zero_weights(right):
    """you start with weights of 0: the encoder gets no gradient in the first step

    nn.Linear draws them
    """

    class Wrong(right):
        def __init__(self, encoder, num_classes):
            super().__init__(encoder, num_classes)
            nn.init.zeros_(self.classifier.weight)

    return Wrong


@of_both
def no_classes(right):
    """you accept a number of classes below 1

    raise ValueError
    """

    class Wrong(right):
        def __init__(self, encoder, num_classes):
            super().__init__(encoder, max(num_classes, 1))

    return Wrong


@reading("first_token", ours.TokenClassifier)
def _(states):
    """you score the first token alone

    each token has its own scores
    """
    return states[:, 0]


@reading("first_token_for_all", ours.TokenClassifier)
def _(states):
    """you give every token the scores of the first one

    take the vector of each token, not the class token's
    """
    return states[:, :1].expand_as(states)


@reading("mean_of_tokens", ours.TokenClassifier)
def _(states):
    """you score the mean of all tokens

    each token has its own scores
    """
    return states.mean(1)


@reading("first_token_left_out", ours.TokenClassifier)
def _(states):
    """you leave the first token out

    each token has its own scores, [CLS] too
    """
    return states[:, 1:]


@returning("classes_first", ours.TokenClassifier)
def _(logits):
    """you put the classes before the tokens, as nn.CrossEntropyLoss takes them

    the classes are the last axis
    """
    return logits.transpose(-1, -2)


@returning("flattened", ours.TokenClassifier)
def _(logits):
    """you put all tokens of the batch into one axis

    keep (B, T, C)
    """
    return logits.flatten(0, -2)


@reading("last_token", ours.SequenceClassifier)
def _(states):
    """you take the last vector

    the first is the class token's
    """
    return states[:, -1]


@reading("second_token", ours.SequenceClassifier)
def _(states):
    """you take the second vector

    the class token stands at place 0
    """
    return states[:, 1]


@reading("mean_of_vectors", ours.SequenceClassifier)
def _(states):
    """you take the mean of all vectors

    the first alone is asked for
    """
    return states.mean(1)


@reading("sum_of_vectors", ours.SequenceClassifier)
def _(states):
    """you add all vectors up

    the first alone is asked for
    """
    return states.sum(1)


@reading("largest_of_vectors", ours.SequenceClassifier)
def _(states):
    """you take the largest value of each feature

    the first vector alone is asked for
    """
    return states.amax(1)


@reading("first_of_the_batch", ours.SequenceClassifier)
def _(states):
    """you take the first sequence of the batch

    [:, 0] is the first vector of each sequence, [0] is the first sequence
    """
    return states[0]


@reading("every_token", ours.SequenceClassifier)
def _(states):
    """you score every vector

    one vector speaks for the sequence: the first
    """
    return states


@reading("axis_kept", ours.SequenceClassifier)
def _(states):
    """you keep an axis of one token

    [:, 0] leaves the axis out, [:, :1] keeps it
    """
    return states[:, :1]


@returning("axis_dropped", ours.SequenceClassifier)
def _(logits):
    """you squeeze: a batch of one loses its axis

    [:, 0] leaves out the tokens' axis and no other
    """
    return logits.squeeze()


@reading("pooler", ours.SequenceClassifier)
def _(states):
    """you put the vector through a tanh, as BERT's pooler does

    between the encoder and the map there is nothing
    """
    return states[:, 0].tanh()


@wrong("SequenceClassifier")
class MeanUnderTheMask(ours.SequenceClassifier):
    """you take the mean of the tokens that are no padding

    the first vector alone is asked for
    """

    def forward(self, *inputs, attention_mask=None, **options):
        if attention_mask is None and len(inputs) > 1:
            inputs, attention_mask = inputs[:1], inputs[1]
        if attention_mask is None:
            states = self.encoder(*inputs, **options).last_hidden_state
            return self.classifier(states.mean(1))
        output = self.encoder(*inputs, attention_mask, **options)
        kept = (attention_mask == 1)[..., None]
        states = torch.where(kept, output.last_hidden_state, 0.0)
        return self.classifier(states.sum(1) / kept.sum(1))
