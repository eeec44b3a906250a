"""Load data sets by name."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

from adrem.datasets.dataset import DataSet, Domain, Provenance
from adrem.datasets.home import data_home
from adrem.datasets.parsed import parsed_once
from adrem.datasets.registry import DataSetSpec, File, find_spec
from adrem.exceptions import DamagedDataError, DataNotFoundError, InvalidDataError
from adrem.files.labelled_rows import Table
from adrem.files.packed import read_members
from adrem.preprocessing.scalers import SCALERS


@dataclass(frozen=True)
class Found:
    """A file of a data set: its content, its checksum, and where it was found."""

    file: File
    content: bytes
    sha256: str
    place: str

    @property
    def known(self) -> bool | None:
        """Whether the content is the published one; None if no checksum is known."""
        return self.sha256 in self.file.sha256 if self.file.sha256 else None


def load(name: str, data_home: str | os.PathLike[str] | None = None, *, verify: bool = True) -> DataSet:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        ``amazon-reviews``, ``amazon-400``, ``amazon-text``, ``office-caltech-surf``, ``office-caltech-resnet50``,
        ``office-31-resnet50``, ``office-31-decaf``, ``cross-dataset-testbed``, ``mushrooms``, ``phishing``,
        ``heart-disease`` or ``gas-sensor-drift``, which are read from files; ``digits-shift`` or ``rotated-arcs``,
        which come with the package; or ``simulated-covariate``, ``simulated-target``,
        ``simulated-concept`` or ``simulated-subspace``, which skada draws.
    data_home : path-like, default=None
        The folder that holds a folder for every data set. By default the environment variable ``ADREM_DATA``,
        else one in the user's cache folder, where `fetch` puts downloads.
    verify : bool, default=True
        Whether content that differs from the published data set is an error. Turn it off for a variant of your own.

    Returns
    -------
    DataSet
        Domains with ``X`` and ``y``, ``classes``, their ``preprocessing`` and ``provenance``.

    Raises
    ------
    DataNotFoundError
        If files, or skada, are missing. The message says what to add, and where.
    DamagedDataError
        If a file is damaged, or its content is not the published one.

    See Also
    --------
    fetch : Download missing files.
    verify : Compare the files with the published ones.
    load_folder : Load a folder of your own.

    Examples
    --------
    >>> from adrem.datasets import load
    >>> load("digits-shift")
    <DataSet digits-shift: rows {S: 898, T: 899}, 64 features, 10 classes>
    """
    spec = find_spec(name)
    if spec.make is not None:
        return _assemble(spec, [], spec.make())
    found = find_files(spec, data_home)
    tables = parse(spec, found)
    data = _assemble(spec, found, tables)
    if verify and not all(item.known for item in found):
        check_content(spec, data)
    return data


def find_files(spec: DataSetSpec, home: str | os.PathLike[str] | None = None) -> list[Found]:
    """Find the files of a data set in its folder, or inside an archive there."""
    folder = data_home(home) / spec.name
    found = {}
    for file in spec.files:
        path = folder / file.name
        if path.is_file():
            found[file.name] = _found(file, _read_bytes(path), str(path))
    for archive in spec.archives:
        missing = [file for file in spec.files if file.name not in found]
        found |= _find_members(folder / archive.name, missing)
    if len(found) < len(spec.files):
        raise DataNotFoundError(missing_message(spec, folder, [f for f in spec.files if f.name not in found]))
    return [found[file.name] for file in spec.files]


def _find_members(archive: Path, wanted: list[File]) -> dict[str, Found]:
    """Find files inside an archive, by name."""
    if not wanted or not archive.is_file():
        return {}
    files = {file.name: file for file in wanted}
    members = read_members(_read_bytes(archive), str(archive), files.keys())
    names = {member: PurePosixPath(member).name for member in members}
    return {names[member]: _found(files[names[member]], members[member], f"{archive}, {member}") for member in members}


def _found(file: File, content: bytes, place: str) -> Found:
    return Found(file, content, hashlib.sha256(content).hexdigest(), place)


def missing_message(spec: DataSetSpec, folder: Path, missing: list[File]) -> str:
    """Return a message that says which files are missing and how to get them."""
    lines = [f"{spec.name}: files are missing. {by_hand(spec, folder, missing)}"]
    if any(file.addresses for file in (*missing, *spec.archives)):
        lines.append(f"`adrem datasets fetch {spec.name}` tries to download them.")
    lines.append("To use another folder, set ADREM_DATA or pass data_home.")
    return "\n".join(lines)


def by_hand(spec: DataSetSpec, folder: Path, missing: list[File]) -> str:
    """Return a message that says which files to add, where, and who publishes them."""
    lines = ["Add these files:", *(f"  {folder / file.name}" for file in missing)]
    lines += [f"or the archive that contains them:\n  {folder / archive.name}" for archive in spec.archives]
    lines += [f"The data are described at {spec.homepage}"] if spec.homepage else []
    lines += [spec.note] if spec.note else []
    return "\n".join(lines)


def parse(spec: DataSetSpec, found: list[Found]) -> dict[str, Table]:
    """Return the tables by the long names of their domains, from the cache if the same files were parsed before."""
    read = spec.read
    if read is None:
        raise InvalidDataError(f"{spec.name} is generated, not read.")
    key = hashlib.sha256(" ".join(item.sha256 for item in found).encode()).hexdigest()
    try:
        return parsed_once(spec.name, key, lambda: read({item.file.name: item.content for item in found}))
    except DamagedDataError as error:
        places = Path(found[0].place.partition(", ")[0]).parent
        raise DamagedDataError(f"{spec.name}: {error} The files are in {places}.") from error


def _assemble(spec: DataSetSpec, found: list[Found], tables: dict[str, Table]) -> DataSet:
    widths = {table.X.shape[1] for table in tables.values()}
    unlabelled = [name for name, table in tables.items() if table.y is None]
    if len(widths) > 1 or unlabelled:
        problem = f"no labels for {', '.join(unlabelled)}" if unlabelled else f"different numbers of columns, {widths}"
        raise DamagedDataError(f"The files of {spec.name} do not fit together: {problem}.")
    domains = {key: Domain(name, as_float(tables[name].X), tables[name].y) for key, name in spec.domains.items()}
    files = {item.file.name: item.sha256 for item in found}
    provenance = Provenance(spec.citation, spec.homepage, spec.terms, files)
    names = next(iter(tables.values())).feature_names
    return DataSet(spec.name, spec.title, domains, make_preprocessing(spec.scaling), provenance, names)


def check_content(spec: DataSetSpec, data: DataSet) -> None:
    """Raise an error if the content differs from the published data set."""
    difference = difference_of(spec, data)
    if difference is not None:
        raise DamagedDataError(
            f"The content of {spec.name} is not the published one: {difference}. `adrem datasets verify {spec.name}` "
            "tells which file differs; get it again, or pass verify=False if you changed it."
        )


def difference_of(spec: DataSetSpec, data: DataSet) -> str | None:
    """Return how the content differs from the published data set; None if no difference is known."""
    rows = {key: domain.X.shape[0] for key, domain in data.domains.items()}
    if spec.rows is not None and rows != spec.rows:
        return f"it has rows {rows} instead of {spec.rows}"
    if spec.checksum is not None and data.checksum != spec.checksum:
        return f"its content has the checksum {data.checksum} instead of {spec.checksum}"
    return None


def as_float(X: Any) -> Any:
    """Convert counts to double precision and half precision to single; keep other floats."""
    wanted = np.float32 if X.dtype == np.float16 else X.dtype if X.dtype.kind == "f" else np.float64
    return sp.csr_array(X.astype(wanted)) if sp.issparse(X) else np.ascontiguousarray(X, dtype=wanted)


def make_preprocessing(scaling: tuple[str, ...]) -> Any:
    """Return an unfitted transformer with the named steps, or None without any."""
    return make_pipeline(*(SCALERS[name]() for name in scaling)) if scaling else None


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedDataError(f"{path} can't be read: {error.strerror or error}.") from error
