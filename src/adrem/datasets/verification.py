"""Compare the files on disk with the published data."""

from __future__ import annotations

import os
from typing import NamedTuple

from adrem.datasets.loading import difference_of, find_files, load
from adrem.datasets.registry import find_spec
from adrem.exceptions import DamagedDataError, DataNotFoundError


class Verification(NamedTuple):
    """The result of `verify`.

    Parameters
    ----------
    status : str
        One of ``ok``, ``unknown``, ``missing`` and ``damaged``.
    findings : list of str
        The reasons.
    """

    status: str
    findings: list[str]


def verify(name: str, data_home: str | os.PathLike[str] | None = None) -> Verification:
    """Compare the files of a data set and their content with the published ones.

    Parameters
    ----------
    name : str
        A name of the registry, as for `load`.
    data_home : path-like, default=None
        As for `load`.

    Returns
    -------
    Verification
        ``status`` is ``ok`` if the content is the published one, ``unknown`` if it can be read but no checksum is
        known, ``missing`` or ``damaged``; ``findings`` are the reasons.

    Examples
    --------
    >>> from adrem.datasets import verify
    >>> verify("digits-shift").status
    'ok'
    >>> verify("amazon-400", data_home="nowhere").status
    'missing'
    """
    spec = find_spec(name)
    if spec.make is not None:
        return Verification("ok", [f"drawn by {spec.needs}" if spec.needs else "comes with the package"])
    try:
        found = find_files(spec, data_home)
    except DataNotFoundError as error:
        return Verification("missing", str(error).splitlines())
    except DamagedDataError as error:
        return Verification("damaged", [str(error)])
    words = {True: "as published", False: "the checksum differs", None: "no checksum is known"}
    findings = [f"{item.place}: {words[item.known]}" for item in found]
    try:
        data = load(name, data_home, verify=False)
    except DamagedDataError as error:
        return Verification("damaged", [*findings, str(error)])
    difference = difference_of(spec, data)
    if difference is not None:
        return Verification("damaged", [*findings, f"content: not the published one: {difference}"])
    if spec.checksum is None:
        return Verification("unknown", [*findings, f"content: checksum {data.checksum}, no published one is known"])
    return Verification("ok", [*findings, "content: as published"])
