"""What goes wrong in chapter 12 on the way back of a look-up."""

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.lab.mistakes.with_numpy.gradients import wrong_way_back, zeros_back
from encoderlab.with_numpy.gradients import embeddings as right


def _rows(table, ids):
    return table[ids]


_wrong = wrong_way_back("embedding_vjp", _rows)


@_wrong("repeated_lost", "of a repeated id only one gradient stays", "use np.add.at")
def embedding_repeated_lost(d, y, table, ids):
    d_table = np.zeros(table.shape)
    d_table[ids] += d
    return d_table


@_wrong("first_kept", "of a repeated id only the first gradient counts", "add all up")
def embedding_first_kept(d, y, table, ids):
    d_table, rows = np.zeros(table.shape), d.reshape(-1, d.shape[-1])
    for row, index in zip(rows[::-1], np.ravel(ids)[::-1], strict=True):
        d_table[index] = row
    return d_table


@_wrong("averaged", "you average the gradients of a repeated id", "add them up")
def embedding_averaged(d, y, table, ids):
    count = np.bincount(np.ravel(ids), minlength=len(table))
    return right.embedding_vjp(table, ids)[1](d) / np.maximum(count, 1)[:, None]


@_wrong("no_padding_row", "id 0 gets no gradient", "no id is special here")
def embedding_no_padding_row(d, y, table, ids):
    d_table = right.embedding_vjp(table, ids)[1](d)
    d_table[0] = 0
    return d_table


@_wrong("plus_table", "your gradient starts from the table", "start from zeros")
def embedding_plus_table(d, y, table, ids):
    return table + right.embedding_vjp(table, ids)[1](d)


@_wrong("of_the_rows", "you return the rows' gradient", "the table's has its shape")
def embedding_of_the_rows(d, y, table, ids):
    return d


@_wrong(
    "only_used_ids", "you give rows for the ids that occur alone", "zeros elsewhere"
)
def embedding_only_used_ids(d, y, table, ids):
    return right.embedding_vjp(table, ids)[1](d)[np.unique(ids)]


@mistake(
    "embedding_vjp", "into_the_table", "you add into the table itself", "start anew"
)
def embedding_into_the_table(table, ids):
    def backward(d):
        np.add.at(table, ids, d)
        return table

    return table[ids], backward


@zeros_back("embedding_vjp", _rows)
def embedding_zeros(d, y, table, ids):
    return np.zeros(table.shape)
