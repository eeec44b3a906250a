"""Tables of people: files with columns of any kind, and how they become rows of numbers."""

from adrem.columns.pair import Pair, make_pair
from adrem.columns.reading import FileTable, read_file
from adrem.columns.recipe import Recipe

__all__ = ["FileTable", "Pair", "Recipe", "make_pair", "read_file"]
