"""Downloads that can be cut off and go on, checked before anything stands under its final name."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from adrem._files import NO_ROOM
from adrem.datasets._home import data_home as home_folder
from adrem.datasets._load import by_hand, load
from adrem.datasets._registry import Address, Entry, File, find_entry
from adrem.exceptions import DamagedDataError, DataNotFoundError, DownloadError

TIMEOUT = 30.0  # seconds without a byte before a server is given up
CHUNK = 1 << 16

Report = Callable[[str, int, int | None], None]


def fetch(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    *,
    report: Report | None = None,
    timeout: float = TIMEOUT,
) -> Path:
    """Download a data set whose files are not all there yet.

    A download that was cut off goes on where it stopped. Nothing stands in the data set's folder before it is whole and
    its content was found right.

    Parameters
    ----------
    name : str
        A name of the registry, as for `load`.
    data_home : path-like, default=None
        As for `load`.
    report : callable, default=None
        Called with the name of the file, the bytes that are there, and the bytes there will be, or None.
    timeout : float, default=30.0
        Seconds without a byte after which a server is given up.

    Returns
    -------
    Path
        The folder of the data set.

    Raises
    ------
    DownloadError
        If it could not be downloaded. The message says which files to put where by hand.

    See Also
    --------
    load : Read a data set once its files are there.

    Examples
    --------
    >>> from adrem.datasets import fetch
    >>> fetch("digits-shift").name  # comes with the package, and nothing is downloaded
    'digits-shift'
    """
    entry = find_entry(name)
    folder = home_folder(data_home) / entry.name
    if entry.make is not None:
        return folder
    try:
        load(name, data_home)
    except DataNotFoundError:
        _fetch_missing(entry, folder, report or (lambda *_: None), timeout)
    except DamagedDataError as error:
        raise DownloadError(f"{error}\nNothing was downloaded: move what lies in {folder} away first.") from error
    return folder


def _fetch_missing(entry: Entry, folder: Path, report: Report, timeout: float) -> None:
    what_to_do = by_hand(entry, folder, [f for f in entry.files if not (folder / f.name).is_file()])
    wanted = [f for f in entry.files if f.addresses] or [f for f in entry.archives if f.addresses]
    if not wanted:
        raise DownloadError(f"{entry.name}: no address is known to download it from. {what_to_do}")
    incoming = folder.parent / ".incoming"
    try:
        for file in wanted:
            _download(file, incoming / entry.name, report, timeout)
        load(entry.name, incoming)
        folder.mkdir(parents=True, exist_ok=True)
        for file in wanted:
            (incoming / entry.name / file.name).replace(folder / file.name)
        _remove(incoming / entry.name)
    except (DataNotFoundError, DamagedDataError) as error:
        for file in wanted:
            (incoming / entry.name / file.name).unlink(missing_ok=True)
        reason = "it lacks some of its files." if isinstance(error, DataNotFoundError) else error
        raise DownloadError(f"What was downloaded is not {entry.name}: {reason}\n{what_to_do}") from error
    except DownloadError as error:
        again = "Run it again, which goes on where it stopped, or do it by hand."
        raise DownloadError(f"{error}\n{again} {what_to_do}") from error
    except OSError as error:
        mend = "Make room, or give another data_home." if error.errno in NO_ROOM else "Give another data_home."
        raise DownloadError(f"{folder} can't be written: {error.strerror or error}. {mend}") from error


def _remove(folder: Path) -> None:
    """Remove a folder of downloads whose files have moved, and what killed downloads have left in it."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # others are being downloaded
        folder.parent.rmdir()


def _download(file: File, folder: Path, report: Report, timeout: float) -> None:
    """A file from the first of its addresses that gives the right bytes."""
    reasons = []
    for address in file.addresses:
        try:
            _retrieve(address, file.name, folder, report, timeout)
        except (OSError, ValueError) as error:  # pooch raises ValueError for a wrong checksum, requests an OSError
            if _is_of_the_disk(error):
                raise
            reasons.append(f"{address.url}: {_reason(error)}")
        else:
            return
    raise DownloadError(f"{file.name} could not be downloaded.\n  " + "\n  ".join(reasons))


def _retrieve(address: Address, name: str, folder: Path, report: Report, timeout: float) -> None:
    try:
        import pooch
    except ImportError as error:
        raise ImportError("Downloads need pooch: pip install 'adrem[bench]'.") from error
    known = f"sha256:{address.sha256}" if address.sha256 else None
    downloader = ResumingDownloader(folder / f"{name}.part", name, report, timeout)
    with _quiet(pooch.get_logger()):
        pooch.retrieve(address.url, known_hash=known, fname=name, path=folder, downloader=downloader)


class ResumingDownloader:
    """Downloads over HTTP into a part file that outlives a failure, and moves it where pooch wants it when whole."""

    def __init__(self, part: Path, name: str, report: Report, timeout: float) -> None:
        self.part = part
        self.name = name
        self.report = report
        self.timeout = timeout

    def __call__(self, url: str, output_file: str, _pooch: Any) -> None:
        import requests
        import urllib3

        begin = self.part.stat().st_size if self.part.exists() else 0
        # As it lies on the server: a compressed transfer could not be resumed by its number of bytes.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={begin}-"} if begin else {})
        with requests.get(url, headers=headers, stream=True, timeout=self.timeout) as response:
            goes_on = response.status_code == 206 and response.headers.get("Content-Range", "").startswith(
                f"bytes {begin}-"
            )
            if response.status_code != 416:
                response.raise_for_status()
            if begin and not goes_on:
                self.part.unlink()  # the server starts over, or the part is longer than the file
                if response.status_code in (206, 416):
                    return self(url, output_file, _pooch)
                begin = 0
            try:
                self._receive(response, begin)
            except urllib3.exceptions.ReadTimeoutError:
                raise requests.Timeout from None
            except urllib3.exceptions.HTTPError:
                raise requests.exceptions.ChunkedEncodingError from None
        self.part.replace(output_file)
        return None

    def _receive(self, response: Any, begin: int) -> None:
        length = response.headers.get("Content-Length")
        total = begin + int(length) if length else None
        done = begin
        with self.part.open("ab") as file:
            # As it lies on the server, also where that calls a .gz file a compressed transfer.
            for chunk in response.raw.stream(CHUNK, decode_content=False):
                file.write(chunk)
                done += len(chunk)
                self.report(self.name, done, total)
        if total is not None and done != total:
            raise OSError(f"cut off after {done} of {total} bytes")


def _is_of_the_disk(error: Exception) -> bool:
    """Whether it is this machine that does not take a file, and no address would help."""
    import requests

    return isinstance(error, OSError) and error.errno is not None and not isinstance(error, requests.RequestException)


def _reason(error: Exception) -> str:
    """One line that says what went wrong, without the inner names of libraries."""
    import requests

    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    if isinstance(error, requests.Timeout):
        return "the server does not answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the download was cut off"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    if isinstance(error, ValueError):
        return "the bytes that came have another checksum than the published ones"
    return str(error).splitlines()[0]


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Say nothing of one's own: there is a report."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
