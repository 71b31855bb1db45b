import numpy as np
from scipy.special import logsumexp


def softmax__by_log_sum_exp(x, axis=-1):
    x = np.asarray(x)
    return np.exp(x - logsumexp(x, axis=axis, keepdims=True)).astype(
        x.dtype if x.dtype.kind == "f" else float
    )
