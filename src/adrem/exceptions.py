"""Warnings and errors of the package, to be filtered and caught by name."""

__all__ = [
    "AmbiguousLabelsWarning",
    "ClusterError",
    "DamagedDataError",
    "DataNotFoundError",
    "DownloadError",
    "LostClassWarning",
    "PrecisionWarning",
    "UnreadableModelError",
]


class AmbiguousLabelsWarning(UserWarning):
    """Labels are exactly -1 and +1 without a domain, so -1 was read as a class and not as a mark of the target.

    Examples
    --------
    If that is what you mean, say so:

    >>> import warnings
    >>> from adrem import AdREM
    >>> from adrem.exceptions import AmbiguousLabelsWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AmbiguousLabelsWarning)
    ...     model = AdREM(C=1.0).fit([[1.0], [2.0], [-1.0]], [1, 1, -1])
    >>> model.classes_.tolist()
    [-1, 1]
    """


class LostClassWarning(UserWarning):
    """A class of the source had no target row labelled with it at some iteration.

    Examples
    --------
    Have it raised, to stop a program rather than take such labels:

    >>> import warnings
    >>> from adrem import AdREM
    >>> from adrem.exceptions import LostClassWarning
    >>> X_source, y_source = [[1.0], [2.0], [-1.0], [-2.0]], ["warm", "warm", "cold", "cold"]
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", LostClassWarning)
    ...     try:
    ...         AdREM(C=1.0).fit(X_source, y_source, X_target=[[3.0], [4.0]])
    ...     except LostClassWarning as warning:
    ...         str(warning).partition(".")[0]
    "At some iteration no target row was labelled with class 'cold' (in 11 of 11 members)"
    """


class PrecisionWarning(UserWarning):
    """Rounding errors are as large as the tolerance of the training: the type of the rows is too short for them.

    Examples
    --------
    Scale the features, or give longer numbers. If the labels near the border do not matter, ignore it:

    >>> import warnings
    >>> import numpy as np
    >>> from adrem import AdREM
    >>> from adrem.exceptions import PrecisionWarning
    >>> X = np.random.RandomState(0).normal(size=(30, 3))
    >>> X[0, 0] = 1e7
    >>> y = np.arange(30) % 2
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", PrecisionWarning)
    ...     model = AdREM(C=1.0, random_state=0).fit(X.astype(np.float32), y)
    >>> model = AdREM(C=1.0, random_state=0).fit(X, y)  # double precision is enough
    """


class UnreadableModelError(ValueError):
    """A file is not a model that this version of the package can read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from adrem import load
    >>> from adrem.exceptions import UnreadableModelError
    >>> with TemporaryDirectory() as folder:
    ...     letter = Path(folder) / "letter.txt"
    ...     size = letter.write_text("Dear all,")
    ...     try:
    ...         load(letter)
    ...     except UnreadableModelError as error:
    ...         str(error).removeprefix(f"{letter} ")
    'is not a model file of adrem, or it is damaged.'
    """


class DataNotFoundError(FileNotFoundError):
    """Files of a data set are not there; the message says which to put where.

    Examples
    --------
    >>> from adrem.datasets import load_folder
    >>> from adrem.exceptions import DataNotFoundError
    >>> try:
    ...     load_folder("nowhere")
    ... except DataNotFoundError as error:
    ...     str(error)
    'There is no folder nowhere.'
    """


class DamagedDataError(ValueError):
    """A file of a data set is cut off, altered, or not what its name says.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from adrem.datasets import load_folder
    >>> from adrem.exceptions import DamagedDataError
    >>> with TemporaryDirectory() as folder:
    ...     sizes = [(Path(folder) / name).write_text("1 2 3") for name in ("books.npz", "kitchen.npz")]
    ...     try:
    ...         load_folder(folder)
    ...     except DamagedDataError as error:
    ...         str(error)
    "books.npz can't be read as a numpy archive: File is not a zip file. Is the file whole? Get it anew."
    """


class MethodFailedError(RuntimeError):
    """A method of the benchmark gave no labels; the message is the reason, as the tables print it."""


class DownloadError(OSError):
    """A file could not be downloaded; the message says which to put where.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from adrem.datasets import fetch
    >>> from adrem.exceptions import DownloadError
    >>> with TemporaryDirectory() as folder:
    ...     try:
    ...         fetch("office-31-decaf", folder)
    ...     except DownloadError as error:
    ...         str(error).splitlines()[0]
    'office-31-decaf: no address is known to download it from. Put there:'
    """


class ClusterError(OSError):
    """A cluster can't be used for what it was given; the message says what to do there.

    Examples
    --------
    It is an error of the machines, as others are that a program may want to wait out:

    >>> from adrem.exceptions import ClusterError
    >>> try:
    ...     raise ClusterError("A worker has another version of adrem.")
    ... except OSError as error:
    ...     print(error)
    A worker has another version of adrem.
    """
