"""The encoder in PyTorch: the files of ``with_numpy`` once more, as modules.

The names, shapes and meanings are the same, and so is the order of lines. What PyTorch
adds: parameters and buffers know their module, gradients come from autograd, dropout is
on in training mode, and one kernel does what NumPy needs several lines for.
"""
