"""Data sets by name."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

from adrem.datasets._dataset import DataSet, Domain, Provenance
from adrem.datasets._home import data_home
from adrem.datasets._parsed import parsed_once
from adrem.datasets._readers import Table, read_members
from adrem.datasets._registry import Entry, File, find_entry
from adrem.exceptions import DamagedDataError, DataNotFoundError


@dataclass(frozen=True)
class Found:
    """A file of a data set that is there: its bytes, their checksum, and where they lie."""

    file: File
    content: bytes
    sha256: str
    place: str

    @property
    def known(self) -> bool | None:
        """Whether these bytes are as they should be; None where nobody knows what they should be."""
        return self.sha256 in self.file.sha256 if self.file.sha256 else None


def load(name: str, data_home: str | os.PathLike[str] | None = None, *, verify: bool = True) -> DataSet:
    """Load a data set of the paper, or one that comes with the package.

    Parameters
    ----------
    name : str
        ``amazon-reviews``, ``amazon-400``, ``office-caltech-surf``, ``office-caltech-resnet50``,
        ``office-31-resnet50``, ``office-31-decaf``, ``cross-dataset-testbed``, ``digits-shift`` or ``rotated-arcs``.
        The last two come with the package, the others are read from their owners' files.
    data_home : path-like, default=None
        The folder that holds a folder for every data set. By default the one that the environment variable
        ``ADREM_DATA`` names, else one in the user's cache folder, where `fetch` puts downloads.
    verify : bool, default=True
        Whether content that differs from the published data set is an error. Turn it off for a variant of your own.

    Returns
    -------
    DataSet
        Domains with ``X`` and ``y``, ``classes``, the ``preprocessing`` that goes with them, and their ``provenance``.

    Raises
    ------
    DataNotFoundError
        If its files are not there. The message says which to put where.
    DamagedDataError
        If a file is damaged, or its content is not what was published.

    See Also
    --------
    fetch : Download what is missing.
    verify : Tell whether the files are those that were published.
    load_folder : Read a folder of your own.

    Examples
    --------
    >>> from adrem.datasets import load
    >>> load("digits-shift")
    <DataSet digits-shift: rows {S: 898, T: 899}, 64 features, 10 classes>
    """
    entry = find_entry(name)
    if entry.make is not None:
        X_source, y_source, X_target, y_target = entry.make()
        domains = {"S": Domain("source", X_source, y_source), "T": Domain("target", X_target, y_target)}
        return DataSet(entry.name, entry.title, domains, None, Provenance(entry.citation))
    found = find_files(entry, data_home)
    tables = parse(entry, found)
    data = _assemble(entry, found, tables)
    if verify and not all(item.known for item in found):
        check_content(entry, data)
    return data


def find_files(entry: Entry, home: str | os.PathLike[str] | None = None) -> list[Found]:
    """The files of a data set, each from the folder itself or from an archive that lies there."""
    folder = data_home(home) / entry.name
    found: dict[str, Found] = {}
    for file in entry.files:
        path = folder / file.name
        if path.is_file():
            content = _read_bytes(path)
            found[file.name] = Found(file, content, hashlib.sha256(content).hexdigest(), str(path))
    missing = [file for file in entry.files if file.name not in found]
    for archive in entry.archives:
        path = folder / archive.name
        if missing and path.is_file():
            by_name = {file.name: file for file in missing}
            for member, content in read_members(_read_bytes(path), str(path), by_name.keys()).items():
                file = by_name[PurePosixPath(member).name]
                sha256 = hashlib.sha256(content).hexdigest()
                found[file.name] = Found(file, content, sha256, f"{path}, {member}")
            missing = [file for file in missing if file.name not in found]
    if missing:
        raise DataNotFoundError(missing_message(entry, folder, missing))
    return [found[file.name] for file in entry.files]


def missing_message(entry: Entry, folder: Path, missing: list[File]) -> str:
    """Which files are missing, and how to come by them."""
    lines = [f"{entry.name}: not all of its files are there. {by_hand(entry, folder, missing)}"]
    if any(file.addresses for file in (*missing, *entry.archives)):
        lines.append(f"`adrem datasets fetch {entry.name}` tries to download what is missing.")
    lines.append("Another folder: set ADREM_DATA, or pass data_home (--data-home).")
    return "\n".join(lines)


def by_hand(entry: Entry, folder: Path, missing: list[File]) -> str:
    """Which files to put where, and where they come from."""
    lines = ["Put there:", *(f"  {folder / file.name}" for file in missing)]
    lines += [f"or, in place of them, the archive:\n  {folder / archive.name}" for archive in entry.archives]
    lines += [f"The data are described at {entry.homepage}"] if entry.homepage else []
    lines += [entry.note] if entry.note else []
    return "\n".join(lines)


def parse(entry: Entry, found: list[Found]) -> dict[str, Table]:
    """Tables by the long names of their domains, parsed once for the same bytes."""
    read = entry.read
    if read is None:
        raise ValueError(f"{entry.name} is made, not read.")
    key = hashlib.sha256(" ".join(item.sha256 for item in found).encode()).hexdigest()
    try:
        return parsed_once(entry.name, key, lambda: read({item.file.name: item.content for item in found}))
    except DamagedDataError as error:
        places = Path(found[0].place.partition(", ")[0]).parent
        raise DamagedDataError(f"{entry.name}: {error} It lies in {places}.") from error


def _assemble(entry: Entry, found: list[Found], tables: dict[str, Table]) -> DataSet:
    widths = {table.X.shape[1] for table in tables.values()}
    unlabelled = [name for name, table in tables.items() if table.y is None]
    if len(widths) > 1 or unlabelled:
        problem = f"no labels for {', '.join(unlabelled)}" if unlabelled else f"different numbers of columns, {widths}"
        raise DamagedDataError(f"The files of {entry.name} do not fit together: {problem}.")
    domains = {key: Domain(name, as_float(tables[name].X), tables[name].y) for key, name in entry.domains.items()}
    files = {item.file.name: item.sha256 for item in found}
    provenance = Provenance(entry.citation, entry.homepage, entry.terms, files)
    names = next(iter(tables.values())).feature_names
    return DataSet(entry.name, entry.title, domains, make_preprocessing(entry.scaling), provenance, names)


def check_content(entry: Entry, data: DataSet) -> None:
    """Raise unless the content is that of the published data set, as far as it is known."""
    difference = difference_of(entry, data)
    if difference is not None:
        raise DamagedDataError(
            f"What was read as {entry.name} is not the published data set: {difference}. `adrem datasets verify "
            f"{entry.name}` tells which file; get it anew, or pass verify=False if the change is yours."
        )


def difference_of(entry: Entry, data: DataSet) -> str | None:
    """Tell in what the content is not that of the published data set, as far as it is known."""
    rows = {key: domain.X.shape[0] for key, domain in data.domains.items()}
    if entry.rows is not None and rows != entry.rows:
        return f"it has rows {rows} in place of {entry.rows}"
    if entry.checksum is not None and data.checksum != entry.checksum:
        return f"its content has another checksum, {data.checksum} in place of {entry.checksum}"
    return None


def as_float(X: Any) -> Any:
    """Counts become doubles and half precision becomes single; other floats stay."""
    wanted = np.float32 if X.dtype == np.float16 else X.dtype if X.dtype.kind == "f" else np.float64
    return sp.csr_array(X.astype(wanted)) if sp.issparse(X) else np.ascontiguousarray(X, dtype=wanted)


def make_preprocessing(scaling: tuple[str, ...]) -> Any:
    """An unfitted transformer for the named steps, or None for no step."""
    from adrem.preprocessing import DomainStandardScaler, JointStdScaler, Rectifier, RowSumScaler

    steps = {
        "rectify": Rectifier,
        "row-sum": RowSumScaler,
        "joint-std": JointStdScaler,
        "domain-standard": DomainStandardScaler,
    }
    return make_pipeline(*(steps[name]() for name in scaling)) if scaling else None


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedDataError(f"{path} can't be read: {error.strerror or error}.") from error
