import numpy as np


def warmup_linear__as_the_smaller_of_two_lines(warmup_steps, total_steps):
    if warmup_steps < 0 or total_steps <= warmup_steps:
        raise ValueError("steps")
    rest = total_steps - warmup_steps

    def factor(step):
        rise = step / warmup_steps if warmup_steps else 1.0
        return max(0.0, min(rise, (total_steps - step) / rest))

    return factor


class warmup_linear__as_a_class:
    def __init__(self, warmup_steps, total_steps):
        if not 0 <= warmup_steps < total_steps:
            raise ValueError("steps")
        self.at = [0, warmup_steps, total_steps], [0.0, 1.0, 0.0]
        if warmup_steps == 0:
            self.at = [0, total_steps], [1.0, 0.0]

    def __call__(self, step):
        return np.interp(step, *self.at)


def warmup_cosine__by_half_angles(warmup_steps, total_steps, final=0.0):
    if not (0 <= warmup_steps < total_steps and 0 <= final <= 1):
        raise ValueError("numbers")

    def factor(step):
        if step <= warmup_steps and warmup_steps > 0:
            return step / warmup_steps
        if step >= total_steps:
            return final
        part = (step - warmup_steps) / (total_steps - warmup_steps)
        return np.cos(np.pi * part / 2) ** 2 * (1 - final) + final

    return factor


def warmup_cosine__with_clip(warmup_steps, total_steps, final=0.0):
    if warmup_steps < 0 or warmup_steps >= total_steps or final < 0 or final > 1:
        raise ValueError("numbers")

    def factor(step):
        part = np.clip((step - warmup_steps) / (total_steps - warmup_steps), 0, 1)
        fall = final + (1 - final) / 2 * (1 + np.cos(np.pi * part))
        return np.where(step < warmup_steps, step / max(warmup_steps, 1), fall)

    return factor


def inverse_square_root__by_cases(d_model, warmup_steps):
    if min(d_model, warmup_steps) < 1:
        raise ValueError("numbers")

    def factor(step):
        if step <= warmup_steps:
            return step / (warmup_steps * (d_model * warmup_steps) ** 0.5)
        return 1 / np.sqrt(d_model * step)

    return factor
