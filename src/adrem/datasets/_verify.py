"""Whether what lies on disk is the published data."""

from __future__ import annotations

import os
from typing import NamedTuple

from adrem.datasets._load import difference_of, find_files, load
from adrem.datasets._registry import find_entry
from adrem.exceptions import DamagedDataError, DataNotFoundError


class Verdict(NamedTuple):
    """What `verify` found about a data set.

    Parameters
    ----------
    status : str
        One of ``ok``, ``unknown``, ``missing`` and ``damaged``.
    findings : list of str
        Why, a line a finding.

    Examples
    --------
    >>> from adrem.datasets import verify
    >>> status, findings = verify("digits-shift")
    >>> findings
    ['comes with the package']
    """

    status: str
    findings: list[str]


def verify(name: str, data_home: str | os.PathLike[str] | None = None) -> Verdict:
    """Compare the files of a data set, and what they hold, with what is known of the published ones.

    Parameters
    ----------
    name : str
        A name of the registry, as for `load`.
    data_home : path-like, default=None
        As for `load`.

    Returns
    -------
    Verdict
        ``status`` is ``ok`` if the content is the published one, ``unknown`` if it can be read and nobody has
        recorded what it should be, ``missing``, or ``damaged``; ``findings`` says why, a line a finding.

    Examples
    --------
    >>> from adrem.datasets import verify
    >>> verify("digits-shift").status
    'ok'
    >>> verify("amazon-400", data_home="nowhere").status
    'missing'
    """
    entry = find_entry(name)
    if entry.make is not None:
        return Verdict("ok", ["comes with the package"])
    try:
        found = find_files(entry, data_home)
    except DataNotFoundError as error:
        return Verdict("missing", str(error).splitlines())
    except DamagedDataError as error:
        return Verdict("damaged", [str(error)])
    words = {True: "as published", False: "other bytes than those known", None: "no checksum is known"}
    findings = [f"{item.place}: {words[item.known]}" for item in found]
    try:
        data = load(name, data_home, verify=False)
    except DamagedDataError as error:
        return Verdict("damaged", [*findings, str(error)])
    difference = difference_of(entry, data)
    if difference is not None:
        return Verdict("damaged", [*findings, f"content: not the published one, {difference}"])
    if entry.checksum is None:
        return Verdict("unknown", [*findings, f"content: checksum {data.checksum}, and none is known to compare with"])
    return Verdict("ok", [*findings, "content: as published"])
