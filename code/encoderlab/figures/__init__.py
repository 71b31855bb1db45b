"""What the book draws and shows: its one style, its plots, and the code it quotes."""

from encoderlab.figures.heat_map import heat_map
from encoderlab.figures.source import show_source
from encoderlab.figures.style import use_book_style

__all__ = ["heat_map", "show_source", "use_book_style"]
