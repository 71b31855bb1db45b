"""The encoder in NumPy, one file per concept, from softmax to a whole text encoder."""
