"""Warnings and errors of the package, to be filtered and caught by name."""


class AmbiguousLabelsWarning(UserWarning):
    """Labels are exactly -1 and +1 without a domain, so -1 was read as a class and not as a mark of the target."""


class LostClassWarning(UserWarning):
    """A class of the source had no target row labelled with it at some iteration."""


class PrecisionWarning(UserWarning):
    """Rounding errors are as large as the tolerance of the training: the type of the rows is too short for them."""


class UnreadableModelError(ValueError):
    """A file is not a model that this version of the package can read."""


class DataNotFoundError(FileNotFoundError):
    """Files of a data set are not there; the message says which to put where."""


class DamagedDataError(ValueError):
    """A file of a data set is cut off, altered, or not what its name says."""


class MethodFailedError(RuntimeError):
    """A method of the benchmark gave no labels; the message is the reason, as the tables print it."""


class DownloadError(OSError):
    """A file could not be downloaded; the message says which to put where."""


class ClusterError(OSError):
    """A cluster can't be used for what it was given; the message says what to do there."""
