"""What reading one file may take, of which every reader and loader draws: bytes, values, members, seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from adrem.exceptions import FileTooLargeError, InvalidDataError
from adrem.runtime.memory import available_memory, size_of

# The most members of an archive, and values of a JSON text that becomes Python objects: a model of a million words has
# somewhat more than a million.
MOST_MEMBERS, MOST_NODES = 1000, 4_000_000
# What a value takes as a Python object, with its place in a list or dict, and a letter of a string at most.
NODE_BYTES, LETTER_BYTES = 250, 4
# What a cell of a column of strings takes, and what a feature takes in the smallest model and while it is scaled.
CELL_BYTES, FEATURE_BYTES = 16, 200
# The directory of an archive with so many members takes less than this; it is read before they are counted.
DIRECTORY_BYTES = 1 << 20
SECONDS = 600.0
PARTS = 3  # a reader in another process: its memory, the pipe, and the memory of this process


@dataclass
class Budget:
    """What is left for reading one file.

    Parameters
    ----------
    n_bytes : float, default=None
        Bytes of memory; by default what is free.
    n_nodes : int, default=MOST_NODES
        Values of JSON texts that become Python objects.
    n_members : int, default=MOST_MEMBERS
        Members of archives.
    n_letters : float, default=inf
        Letters of the longest string of an array: each string of it takes as much.
    seconds : float, default=SECONDS
        Seconds for a reader in another process.

    Examples
    --------
    >>> from adrem.files.budget import Budget
    >>> budget = Budget(n_bytes=1e6)
    >>> budget.draw(8e5, "its rows")
    >>> budget.draw(8e5, "its columns")
    Traceback (most recent call last):
        ...
    adrem.exceptions.FileTooLargeError: its columns take 800 kB, and it may take 200 kB
    """

    n_bytes: float = field(default_factory=available_memory)
    n_nodes: int = MOST_NODES
    n_members: int = MOST_MEMBERS
    n_letters: float = inf
    seconds: float = SECONDS

    def draw(self, n_bytes: float, what: str) -> None:
        """Take bytes of what is left; raise FileTooLargeError if it is less."""
        if n_bytes > self.n_bytes:
            raise FileTooLargeError(f"{what} take {size_of(n_bytes)}, and it may take {size_of(self.n_bytes)}")
        self.n_bytes -= n_bytes

    def draw_json(self, text: bytes) -> None:
        """Take what a JSON text takes as Python objects, by its punctuation."""
        n_nodes = sum(map(text.count, (b",", b":", b"[", b"{")))
        if n_nodes > self.n_nodes:
            raise FileTooLargeError(f"its header has {n_nodes} values, and {self.n_nodes} are allowed")
        self.n_nodes -= n_nodes
        self.draw(NODE_BYTES * n_nodes + LETTER_BYTES * len(text), "the values of its header")

    def draw_members(self, names: list[str]) -> None:
        """Take the members of an archive."""
        if len(names) > self.n_members or len({*names}) < len(names):
            raise InvalidDataError("it has more than a thousand members, or duplicate names")
        self.n_members -= len(names)

    def draw_cells(self, n_rows: int, n_columns: int) -> None:
        """Take a table of strings, besides their letters."""
        self.draw(CELL_BYTES * n_rows * n_columns, f"its {n_rows} x {n_columns} cells")

    def draw_features(self, n_features: int) -> None:
        """Take what any model of so many features takes."""
        self.draw(FEATURE_BYTES * n_features, f"models of {n_features} features")

    def check_strings(self, name: str, n_letters: int) -> None:
        """Raise an error for an array of too long strings."""
        if n_letters > self.n_letters:
            raise FileTooLargeError(f"{name} has strings of {n_letters} letters, and {self.n_letters} are allowed")

    @property
    def apart(self) -> float:
        """The bytes for a reader in another process."""
        return self.n_bytes / PARTS
