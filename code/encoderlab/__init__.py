"""The transformer encoder, from NumPy to PyTorch: the tested reference code of the book."""
