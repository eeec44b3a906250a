"""Convert tables with named columns of any kind to rows of numbers."""

from adrem.columns.pair import Pair, make_pair
from adrem.columns.photos import read_photos
from adrem.columns.reading import FileTable, read_file
from adrem.columns.recipe import Recipe
from adrem.columns.tables import AdaptedTables, adapt_tables

__all__ = ["AdaptedTables", "FileTable", "Pair", "Recipe", "adapt_tables", "make_pair", "read_file", "read_photos"]
