"""Tables of people: files with columns of any kind, and how they become rows of numbers."""

from adrem.columns.pair import Pair, make_pair
from adrem.columns.reading import FileTable, read_file
from adrem.columns.recipe import Recipe, make_recipe
from adrem.columns.roles import Role, assign_roles

__all__ = ["FileTable", "Pair", "Recipe", "Role", "assign_roles", "make_pair", "make_recipe", "read_file"]
