import numpy as np


def embedding_vjp__one_hot(table, ids):
    hot = np.eye(len(table))[np.ravel(ids)]
    y = (hot @ table).reshape(*np.shape(ids), -1)
    return y, lambda d: hot.T @ d.reshape(-1, table.shape[1])


def embedding_vjp__loop(table, ids):
    def backward(d):
        d_table = np.zeros_like(table)
        for place in np.ndindex(*np.shape(ids)):
            d_table[ids[place]] += d[place]
        return d_table

    return np.take(table, ids, axis=0), backward


def embedding_vjp__id_by_id(table, ids):
    def backward(d):
        return np.stack([d[ids == v].sum(axis=0) for v in range(len(table))])

    return table[ids].copy(), backward
