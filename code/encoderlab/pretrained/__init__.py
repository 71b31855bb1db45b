"""Pretrained weights, found, verified and read into our names; and WordPiece."""

from encoderlab.pretrained.checkpoint import Checkpoint, read_checkpoint
from encoderlab.pretrained.find import load
from encoderlab.pretrained.wordpiece import WordPiece

__all__ = ["Checkpoint", "WordPiece", "load", "read_checkpoint"]
