"""Download data sets: resume interrupted downloads, and check files before moving them into place."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from adrem.datasets.home import data_home as home_folder
from adrem.datasets.loading import by_hand, load
from adrem.datasets.registry import Address, DataSetSpec, File, find_spec
from adrem.exceptions import DamagedDataError, DataNotFoundError, DownloadError, MissingImportError
from adrem.files.atomic import NO_ROOM
from adrem.runtime.memory import size_of
from adrem.runtime.text import printable

TIMEOUT = 30.0  # seconds without data before giving up on a server
CHUNK = 1 << 16  # bytes
MOST_BYTES = 1 << 32  # of a file; the largest that is known has a third of it

ProgressReport = Callable[[str, int, int | None], None]


def fetch(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    *,
    report: ProgressReport | None = None,
    timeout: float = TIMEOUT,
) -> Path:
    """Download a data set, unless its files are there already.

    An interrupted download is resumed. Files are moved to the data set's folder once they are complete and checked.

    Parameters
    ----------
    name : str
        A name of the registry, as for `load`.
    data_home : path-like, default=None
        As for `load`.
    report : callable, default=None
        Called with the name of the file, the bytes received, and the total bytes, None if unknown.
    timeout : float, default=30.0
        Seconds without data before giving up on a server.

    Returns
    -------
    Path
        The folder of the data set.

    Raises
    ------
    DownloadError
        If the download failed. The message says which files to add by hand, and where.

    See Also
    --------
    load : Load a data set from its files.

    Examples
    --------
    >>> from adrem.datasets import fetch
    >>> fetch("digits-shift").name  # bundled, so nothing is downloaded
    'digits-shift'
    """
    spec = find_spec(name)
    folder = home_folder(data_home) / spec.name
    if spec.make is not None:
        return folder
    try:
        load(name, data_home)
    except DataNotFoundError:
        _fetch_missing(spec, folder, report or (lambda *_: None), timeout)
    except DamagedDataError as error:
        raise DownloadError(f"{error}\nNothing was downloaded: move the files in {folder} away first.") from error
    return folder


def _fetch_missing(spec: DataSetSpec, folder: Path, report: ProgressReport, timeout: float) -> None:
    advice = by_hand(spec, folder, [file for file in spec.files if not (folder / file.name).is_file()])
    wanted = _with_addresses(spec.files) or _with_addresses(spec.archives)
    if not wanted:
        raise DownloadError(f"{spec.name}: no download address is known. {advice}")
    try:
        _download_all(spec, wanted, folder, report, timeout)
    except DownloadError as error:
        raise DownloadError(f"{error}\n{advice}") from error
    except OSError as error:
        advice = "Free some space, or pass another data_home." if error.errno in NO_ROOM else "Pass another data_home."
        raise DownloadError(f"{folder} can't be written: {error.strerror or error}. {advice}") from error


def _with_addresses(files: Iterable[File]) -> list[File]:
    return [file for file in files if file.addresses]


def _download_all(spec: DataSetSpec, wanted: list[File], folder: Path, report: ProgressReport, timeout: float) -> None:
    """Download files beside the folder, check them, and only then move them into it."""
    incoming = folder.parent / ".incoming" / spec.name
    for file in wanted:
        _download(file, incoming, report, timeout)
    _check_downloaded(spec, incoming, wanted)
    folder.mkdir(parents=True, exist_ok=True)
    for file in wanted:
        (incoming / file.name).replace(folder / file.name)
    _remove(incoming)


def _check_downloaded(spec: DataSetSpec, incoming: Path, wanted: list[File]) -> None:
    """Load the downloaded files, and remove them if they are not the data set."""
    try:
        load(spec.name, incoming.parent)
    except (DataNotFoundError, DamagedDataError) as error:
        for file in wanted:
            (incoming / file.name).unlink(missing_ok=True)
        reason = "some files are missing." if isinstance(error, DataNotFoundError) else error
        raise DownloadError(f"The downloaded files are not {spec.name}: {reason}") from error


def _remove(folder: Path) -> None:
    """Remove the download folder of a data set, with the parts of interrupted downloads."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # another download is under way
        folder.parent.rmdir()


def _download(file: File, folder: Path, report: ProgressReport, timeout: float) -> None:
    """Download a file from the first address that has the right content."""
    reasons = []
    for address in file.addresses:
        try:
            _retrieve(address, file.name, folder, report, timeout)
        except (OSError, ValueError) as error:  # pooch raises ValueError for a wrong checksum, requests an OSError
            if _is_disk_error(error):
                raise
            reasons.append(f"{address.url}: {_reason(error)}")
        else:
            return
    raise DownloadError(
        f"{file.name} could not be downloaded.\n  "
        + "\n  ".join(reasons)
        + "\nRun it again to resume the download, or download it by hand."
    )


def _retrieve(address: Address, name: str, folder: Path, report: ProgressReport, timeout: float) -> None:
    try:
        import pooch
    except ImportError as error:
        raise MissingImportError("Downloads need pooch: pip install 'adrem[bench]'.") from error
    known = f"sha256:{address.sha256}" if address.sha256 else None
    downloader = ResumingDownloader(folder / f"{name}.part", name, report, timeout)
    with _quiet(pooch.get_logger()):
        pooch.retrieve(address.url, known_hash=known, fname=name, path=folder, downloader=downloader)


class ResumingDownloader:
    """Download over HTTP into a part file, which is kept after a failure, then move it to its place."""

    def __init__(self, part: Path, name: str, report: ProgressReport, timeout: float) -> None:
        self.part = part
        self.name = name
        self.report = report
        self.timeout = timeout

    def __call__(self, url: str, output_file: str, _pooch: Any) -> None:
        import requests
        import urllib3

        begin = self.part.stat().st_size if self.part.exists() else 0
        # Uncompressed, because a compressed transfer can't be resumed at a byte of the file.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={begin}-"} if begin else {})
        with requests.get(url, headers=headers, stream=True, timeout=self.timeout) as response:
            resumes = response.status_code == 206 and response.headers.get("Content-Range", "").startswith(
                f"bytes {begin}-"
            )
            if response.status_code != 416:
                response.raise_for_status()
            if begin and not resumes:
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
        self._check_size(total or 0)
        with self.part.open("ab") as file:
            # Not decoded, because some servers call a .gz file a compressed transfer.
            for chunk in response.raw.stream(CHUNK, decode_content=False):
                done += len(chunk)
                self._check_size(done)
                file.write(chunk)
                self.report(self.name, done, total)
        if total is not None and done != total:
            raise DownloadError(f"cut off after {done} of {total} bytes")

    def _check_size(self, n_bytes: int) -> None:
        """Give a file up that is longer than any known one."""
        if n_bytes > MOST_BYTES:
            self.part.unlink(missing_ok=True)
            raise DownloadError(f"the server sends more than {size_of(MOST_BYTES)}")


def _is_disk_error(error: Exception) -> bool:
    """Return whether writing failed, so that another address would not help."""
    import requests

    return isinstance(error, OSError) and error.errno is not None and not isinstance(error, requests.RequestException)


def _reason(error: Exception) -> str:
    """Describe an error in one line."""
    import requests

    if isinstance(error, requests.TooManyRedirects):
        return "the server redirects again and again"
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    if isinstance(error, requests.Timeout):
        return "the server does not answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the download was cut off"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    if isinstance(error, ValueError) and isinstance(error, requests.RequestException):
        return f"the server redirects to an address that is not used: {printable(str(error).splitlines()[0])}"
    if isinstance(error, ValueError):
        return "the downloaded file does not have the published checksum"
    return str(error).splitlines()[0]


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Silence the log of pooch."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
