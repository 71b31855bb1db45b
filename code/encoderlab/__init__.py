"""The transformer encoder, from NumPy to PyTorch: the book's reference code."""
