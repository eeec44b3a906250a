"""Errors and warnings of the package, to be caught and filtered by name.

Every error is an `AdremError`, and also the built-in error that fits it::

    AdremError
    ├── ParameterError (ValueError)         a parameter has a wrong value; `parameter` is its name
    ├── UnreadableModelError (ValueError)   a file is not a model that this version can read
    ├── DataNotFoundError (FileNotFoundError)
    ├── DamagedDataError (ValueError)       a file is cut off, altered, or of another format
    ├── PythonObjectsError (ValueError)     an array holds Python objects, which could run code when read
    ├── FileTooLargeError (MemoryError)     a file unpacks to more than fits into memory
    ├── DownloadError (OSError)
    ├── ClusterError (OSError)              a Dask cluster can't be used
    ├── AbandonedError (RuntimeError)       a worker stops because its client has gone
    ├── DeviceMemoryError (MemoryError)     the memory of a GPU is used up
    └── MethodFailedError (RuntimeError)    a method of the benchmark gave no labels

The warnings are `AmbiguousLabelsWarning`, `LostClassWarning` and `PrecisionWarning`, all of them a `UserWarning`.
"""

from __future__ import annotations

__all__ = [
    "AbandonedError",
    "AdremError",
    "AmbiguousLabelsWarning",
    "ClusterError",
    "DamagedDataError",
    "DataNotFoundError",
    "DeviceMemoryError",
    "DownloadError",
    "FileTooLargeError",
    "LostClassWarning",
    "MethodFailedError",
    "ParameterError",
    "PrecisionWarning",
    "PythonObjectsError",
    "UnreadableModelError",
]


class AdremError(Exception):
    """Base of all errors of the package."""


class ParameterError(AdremError, ValueError):
    """A parameter has a value that can't be used.

    Parameters
    ----------
    message : str
        What is wrong, and how to fix it.
    parameter : str
        Name of the parameter.
    """

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str]]:
        return type(self), (str(self), self.parameter)


class AmbiguousLabelsWarning(UserWarning):
    """Labels are exactly -1 and +1 without a domain, so -1 was read as a class and not as a mark of the target."""


class LostClassWarning(UserWarning):
    """A class of the source had no target row labelled with it at some iteration."""


class PrecisionWarning(UserWarning):
    """Rounding errors are as large as the tolerance of the training: the type of the rows is too short for them."""


class UnreadableModelError(AdremError, ValueError):
    """A file is not a model that this version of the package can read."""


class DataNotFoundError(AdremError, FileNotFoundError):
    """Files of a data set are not there; the message says which to put where."""


class DamagedDataError(AdremError, ValueError):
    """A file of a data set is cut off, altered, or not what its name says."""


class MethodFailedError(AdremError, RuntimeError):
    """A method of the benchmark gave no labels. The message is the reason, as the tables print it."""


class DownloadError(AdremError, OSError):
    """A file could not be downloaded; the message says which to put where."""


class ClusterError(AdremError, OSError):
    """A cluster can't be used for what it was given; the message says what to do there."""


class DeviceMemoryError(AdremError, MemoryError):
    """The memory of a GPU is used up. Fewer members at a time may fit."""


class FileTooLargeError(AdremError, MemoryError):
    """A packed file holds more than fits into memory."""


class PythonObjectsError(AdremError, ValueError):
    """An array in a file holds Python objects, which could run code when they are read."""


class AbandonedError(AdremError, RuntimeError):
    """A worker of a cluster stops its work because the client that asked for it has gone."""
