"""Errors and warnings of the package, to be caught and filtered by name.

Every error that the package raises is an `AdremError`, and also the built-in error that fits it::

    AdremError
    ├── ParameterError (ValueError)         a parameter has a wrong value; `parameter` is its name
    ├── InvalidDataError (ValueError)       rows, labels, a table or a model can't be used for what was asked
    ├── InvalidTypeError (TypeError)        an object is of a type that can't be used
    ├── UnknownNameError (KeyError)         a data set has no domain or pair of this name
    ├── UnreadableModelError (ValueError)   a file is not a model that this version can read
    ├── DataNotFoundError (FileNotFoundError)
    ├── EncoderNotFoundError (FileNotFoundError)   the files of an encoder are not there, or others
    ├── DamagedDataError (ValueError)       a file is cut off, altered, or of another format
    ├── PythonObjectsError (ValueError)     an array holds Python objects, which could run code when read
    ├── NotEnoughMemoryError (MemoryError)  a computation would take more memory than is free
    │   ├── FileTooLargeError               a file unpacks to more than fits into memory
    │   └── DeviceMemoryError               the memory of a GPU is used up
    ├── OutputError (OSError)               an output can't be written
    │   └── NoFolderError (FileNotFoundError, NotADirectoryError)   its folder is missing, or a file
    ├── DownloadError (OSError)
    ├── ClusterError (OSError)              a Dask cluster can't be used
    ├── SparkError (RuntimeError)           Spark can't be used as it is set up
    ├── AbandonedError (RuntimeError)       a worker stops because its client has gone
    ├── MissingImportError (ImportError)    a package is not installed, or has no class of a name
    └── MethodFailedError (RuntimeError)    a method of the benchmark gave no labels

Errors of others pass through as they are: those of scikit-learn and joblib (`NotFittedError`, and ValueError for tables
and numbers that they check), and those of the operating system (OSError, as for a file that is not there).

The warnings are `AmbiguousLabelsWarning`, `LostClassWarning`, `MissingClassWarning`, `PrecisionWarning` and
`UnequalSharesWarning`, all of them a `UserWarning`.
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
    "EncoderNotFoundError",
    "FileTooLargeError",
    "InvalidDataError",
    "InvalidTypeError",
    "LostClassWarning",
    "MethodFailedError",
    "MissingClassWarning",
    "MissingImportError",
    "NoFolderError",
    "NotEnoughMemoryError",
    "OutputError",
    "ParameterError",
    "PrecisionWarning",
    "PythonObjectsError",
    "SparkError",
    "UnequalSharesWarning",
    "UnknownNameError",
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


class InvalidDataError(AdremError, ValueError):
    """Rows, labels, a table or a model can't be used for what was asked; the message says what to change."""


class InvalidTypeError(AdremError, TypeError):
    """An object is of a type that can't be used, or that a model file can't hold."""


class UnknownNameError(AdremError, KeyError):
    """A data set has no domain or pair of this name; the message lists those that it has."""


class NotEnoughMemoryError(AdremError, MemoryError):
    """A computation would take more memory than is free. It is raised before the work."""


class OutputError(AdremError, OSError):
    """An output can't be written; the message says what to change."""


class NoFolderError(OutputError, FileNotFoundError, NotADirectoryError):
    """The folder of an output is not there, or is a file."""


class MissingImportError(AdremError, ImportError):
    """A package is not installed, or has no class of a name; the message says what to install."""


class SparkError(AdremError, RuntimeError):
    """Spark can't be used as it is set up; the message says what to change."""


class AmbiguousLabelsWarning(UserWarning):
    """Labels are exactly -1 and +1 without a domain, so -1 was read as a class and not as a mark of the target."""


class LostClassWarning(UserWarning):
    """A class of the source had no target row labelled with it at some iteration."""


class MissingClassWarning(UserWarning):
    """Classes of the source seem to be missing from the target, although all were drawn equally often."""


class UnequalSharesWarning(UserWarning):
    """The classes seem not to be equally common in the target, although they were drawn equally often."""


class PrecisionWarning(UserWarning):
    """Rounding errors are as large as the tolerance of the training: the type of the rows is too short for them."""


class UnreadableModelError(AdremError, ValueError):
    """A file is not a model that this version of the package can read."""


class DataNotFoundError(AdremError, FileNotFoundError):
    """Files of a data set are not there; the message says which to put where."""


class EncoderNotFoundError(AdremError, FileNotFoundError):
    """The files of an encoder are not there, or are those of another one; the message says which to put where."""


class DamagedDataError(AdremError, ValueError):
    """A file of a data set is cut off, altered, or not what its name says."""


class MethodFailedError(AdremError, RuntimeError):
    """A method of the benchmark gave no labels. The message is the reason, as the tables print it."""


class DownloadError(AdremError, OSError):
    """A file could not be downloaded; the message says which to put where."""


class ClusterError(AdremError, OSError):
    """A cluster can't be used for what it was given; the message says what to do there."""


class DeviceMemoryError(NotEnoughMemoryError):
    """The memory of a GPU is used up. Fewer members at a time may fit."""


class FileTooLargeError(NotEnoughMemoryError):
    """A packed file holds more than fits into memory."""


class PythonObjectsError(AdremError, ValueError):
    """An array in a file holds Python objects, which could run code when they are read."""


class AbandonedError(AdremError, RuntimeError):
    """A worker of a cluster stops its work because the client that asked for it has gone."""
