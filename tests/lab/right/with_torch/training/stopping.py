import io
from copy import deepcopy
from math import inf, isnan

import torch


class EarlyStopping__counter_and_deepcopy:
    def __init__(self, patience, *, higher_is_better=False):
        if not patience >= 1:
            raise ValueError("patience")
        self.patience = patience
        self.sign = 1 if higher_is_better else -1
        self.history, self.best_step, self.is_over = [], None, False
        self._bad, self._best, self._kept = 0, None, None

    def update(self, step, value, model):
        self.history += [(step, value)]
        score = self.sign * value
        if score == score and (self._best is None or score > self._best):
            self._best, self._bad, self.best_step = score, 0, step
            self._kept = deepcopy(model)
        else:
            self._bad += 1
        self.is_over = self._bad >= self.patience

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept.state_dict())


class EarlyStopping__from_the_history_and_a_file:
    def __init__(self, patience, *, higher_is_better=False):
        if patience <= 0:
            raise ValueError("patience")
        self.patience, self.higher_is_better = patience, higher_is_better
        self.history, self._file = [], None

    @property
    def _ranked(self):
        figures = [v for _, v in self.history if not isnan(v)]
        return max(figures) if self.higher_is_better else min(figures)

    @property
    def best_step(self):
        if all(isnan(value) for _, value in self.history):
            return None
        return next(step for step, value in self.history if value == self._ranked)

    @property
    def is_over(self):
        since = 0
        for step, _ in reversed(self.history):
            if step == self.best_step:
                break
            since += 1
        return since >= self.patience

    def update(self, step, value, model):
        self.history.append((step, value))
        if step == self.best_step:
            self._file = io.BytesIO()
            torch.save(model.state_dict(), self._file)

    def restore(self, model):
        if self._file is not None:
            self._file.seek(0)
            model.load_state_dict(torch.load(self._file))


class EarlyStopping__worst_for_nan_and_copy_by_hand:
    def __init__(self, patience, *, higher_is_better=False):
        if patience < 1:
            raise ValueError("patience")
        self.patience, self.high = patience, higher_is_better
        self.history, self.kept = [], []
        self.best_step, self.best_place = None, -1

    @property
    def is_over(self):
        return len(self.history) > self.best_place + self.patience

    def update(self, step, value, model):
        worst = -inf if self.high else inf
        best = worst if self.best_place < 0 else self.history[self.best_place][1]
        first = self.best_place < 0 and not isnan(value)
        self.history.append((step, float(value)))
        if first or (value > best if self.high else value < best):
            self.best_place, self.best_step = len(self.history) - 1, step
            with torch.no_grad():
                self.kept = [t + 0 for t in self._tensors(model)]

    @torch.no_grad()
    def restore(self, model):
        for tensor, kept in zip(self._tensors(model), self.kept, strict=False):
            tensor.copy_(kept)

    def _tensors(self, model):
        return [*model.parameters(), *model.buffers()]
