import numpy as np

from encoderlab.with_numpy.gradients import softmax_vjp
from encoderlab.with_numpy.gradients.heads import token_classifier_vjp
from encoderlab.with_numpy.loss import cross_entropy
from encoderlab.with_numpy.training import loop as ours


def clip_gradients__one_vector(gradients, max_norm):
    if max_norm <= 0:
        raise ValueError("max_norm")
    norm = np.linalg.norm(np.concatenate([g.ravel() for g in gradients.values()]))
    factor = min(1.0, max_norm / norm) if 0 < norm < np.inf else 1.0
    return {name: g * factor for name, g in gradients.items()}, norm


def clip_gradients__norm_of_norms(gradients, max_norm):
    if not max_norm > 0:
        raise ValueError("max_norm")
    norm = np.hypot.reduce([np.sqrt((g**2).sum()) for g in gradients.values()])
    if np.isfinite(norm) and norm > max_norm:
        gradients = {name: max_norm * (g / norm) for name, g in gradients.items()}
    return dict(gradients), float(norm)


def loss_and_gradients__softmax_minus_one_hot(
    model, inputs, targets, *, ignore_index=-100, label_smoothing=0.0, **options
):
    logits, back = token_classifier_vjp(model, *inputs, **options)
    asked = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
    loss = cross_entropy(logits, targets, **asked)
    counted, num_classes = targets != ignore_index, logits.shape[-1]
    p, _ = softmax_vjp(logits)
    aim = np.eye(num_classes)[np.where(counted, targets, 0)]
    aim = (1 - label_smoothing) * aim + label_smoothing / num_classes
    gradients = back((p - aim) * counted[..., None] / counted.sum())[1]
    return loss, dict(reversed(gradients.items()))


def accuracy__sums(logits, targets, *, ignore_index=-100):
    best = np.argsort(logits, axis=-1)[..., -1].ravel()
    pairs = [(b, t) for b, t in zip(best, targets.ravel(), strict=True)]
    pairs = [(b, t) for b, t in pairs if t != ignore_index]
    if not pairs:
        raise ValueError("nothing counts")
    return sum(int(b == t) for b, t in pairs) / len(pairs)


def accuracy__average(logits, targets, *, ignore_index=-100):
    weights = (targets != ignore_index).astype(float)
    if weights.sum() == 0:
        raise ValueError("nothing counts")
    return np.average(np.argmax(logits, -1) == targets, weights=weights)


def minibatches__shuffled_in_place(num_samples, batch_size, epochs, *, rng):
    if num_samples < 1 or batch_size < 1 or epochs < 1:
        raise ValueError("numbers")
    batches, order = [], np.arange(num_samples)
    for _ in range(epochs):
        rng.shuffle(order)
        cuts = np.arange(batch_size, num_samples, batch_size)
        batches += np.split(order.copy(), cuts)
    return batches


def minibatches__sorted_by_random_keys(num_samples, batch_size, epochs, *, rng):
    if min(num_samples, batch_size, epochs) <= 0:
        raise ValueError("numbers")
    orders = rng.random((epochs, num_samples)).argsort(axis=1).tolist()
    found = []
    for order in orders:
        while order:
            found.append(order[:batch_size])
            order = order[batch_size:]
    return found


def fit__without_a_bar(
    step, batches, optimizer, *, schedule=None, max_norm=None, progress=None
):
    losses = []
    for t, batch in enumerate(batches, start=1):
        loss, gradients = step(batch)
        finite = all(np.isfinite(g).all() for g in gradients.values())
        if not (finite and np.isfinite(loss)):
            raise FloatingPointError(f"step {t}")
        if max_norm is not None:
            gradients, _ = ours.clip_gradients(gradients, max_norm)
        losses += [loss]
        optimizer.step(gradients, factor=1.0 if schedule is None else schedule(t))
    return np.asarray(losses, dtype=np.float64)


def fit__clips_by_hand(
    step, batches, optimizer, *, schedule=None, max_norm=None, progress=None
):
    losses = np.zeros(0)
    schedule = schedule or (lambda step: 1)
    for batch in batches:
        loss, gradients = step(batch)
        norm = np.sqrt(sum(np.sum(g * g) for g in gradients.values()))
        if np.isnan(loss + norm) or np.isinf(loss + norm):
            raise FloatingPointError("not finite")
        shorten = 1.0 if not max_norm else min(1.0, max_norm / norm)
        losses = np.append(losses, loss)
        changed = {name: shorten * g for name, g in gradients.items()}
        optimizer.step(changed, schedule(losses.size))
    return losses
