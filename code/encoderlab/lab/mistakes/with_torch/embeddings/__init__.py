"""What goes wrong with embeddings, of texts and of images."""

from encoderlab.lab.mistakes.with_torch.embeddings import images, texts

__all__ = ["images", "texts"]
