"""Get models from the hub (huggingface.co) by its own client: one commit, files of safe kinds, each checked."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adrem.exceptions import AdremError, DamagedDataError, DownloadError, MissingImportError, ParameterError
from adrem.features.weights import (
    CONFIG,
    MOST_BYTES,
    MOST_NETWORK_BYTES,
    NETWORKS,
    PACKAGES,
    SAFE,
    TOKENIZER,
    checksum_of,
    model_homes,
)
from adrem.files.atomic import written_whole
from adrem.runtime.memory import size_of

REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
USUAL = "https://huggingface.co"
DATA = "_data"  # what the weights beside a large ONNX network are called
ORIGIN = "origin.json"


@dataclass(frozen=True)
class _File:
    """A file of a repository: where it lies there, its name here, and what its content must be."""

    path: str
    name: str
    n_bytes: int
    sha256: str | None
    git_id: str

    def check(self, place: Path) -> None:
        """Raise an error for another content: large files have a SHA-256, others the identifier of git."""
        content = place.read_bytes() if self.sha256 is None else b""
        found = (
            checksum_of(place)
            if self.sha256 is not None
            else hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
        )
        if found != (self.sha256 or self.git_id):
            place.unlink()
            raise DamagedDataError(f"{self.path} was not received whole: its checksum differs. Get it again.")


def is_repository(name: str) -> bool:
    """Return whether a name is that of a repository of the hub, OWNER/NAME."""
    return REPOSITORY.fullmatch(name) is not None and ".." not in name


def fetch_model(repository: str, revision: str | None = None, file: str | None = None) -> tuple[str, Path]:
    """Get a model from the hub into the folder of the models.

    A broken connection is resumed by the client; files that are complete are not asked for again.

    Parameters
    ----------
    repository : str
        Its owner and name there, such as "OWNER/NAME".
    revision : str or None, default=None
        A commit, branch or tag; None is the newest commit. The commit is kept in ``origin.json`` beside the files.
    file : str or None, default=None
        The file of the network, where the repository has several.

    Returns
    -------
    str
        The name of the model for an encoder.
    Path
        The folder of its files.

    Raises
    ------
    DownloadError
        If the hub can't be reached. The message says which files to put where.
    """
    client = _client()
    owner, name = repository.split("/")
    packaged = owner == PACKAGES[0]  # the weights of timm, whose networks are in the package
    home = model_homes()[0]
    folder = home / PACKAGES[0] / name if packaged else home / name
    try:
        told = client.model_info(repository, revision=revision, files_metadata=True)
        wanted = _choose(told, file, packaged)
        incoming = home / ".incoming" / f"{owner}--{name}" / str(told.sha)
        places = {own.name: _download(client, repository, str(told.sha), own, incoming) for own in wanted}
    except (AdremError, MissingImportError):
        raise
    except Exception as error:  # of the client, of its connections and of the disk
        raise DownloadError(_by_hand(repository, revision, folder, packaged, error)) from error
    _move(places, folder, {"repository": repository, "revision": str(told.sha)})
    shutil.rmtree(incoming.parent)
    return f"{PACKAGES[0]}:{name}" if packaged else name, folder


def _client() -> Any:
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        raise MissingImportError("The hub needs its client: pip install 'adrem[hub]'.") from error
    return HfApi(endpoint=os.environ.get("HF_ENDPOINT") or USUAL, library_name="adrem")


def _choose(told: Any, file: str | None, packaged: bool) -> list[_File]:
    """Return the files of a repository that a model is made of, all of kinds that hold no code."""
    known = {own.rfilename: own for own in told.siblings or ()}
    usual = (SAFE,) if packaged else NETWORKS
    wanted = (file,) if file else usual
    network = _choose_network(told.id, known, wanted, Path(usual[0]).suffix)
    beside = f"{network}{DATA}"  # found under the name by which the network refers to it
    names = {network: usual[0], beside: Path(beside).name, TOKENIZER: TOKENIZER, CONFIG: CONFIG}
    return [_described(known[path], name) for path, name in names.items() if path in known]


def _choose_network(repository: str, known: dict[str, Any], wanted: tuple[str, ...], kind: str) -> str:
    """Return the first of the wanted networks that is there and of the kind that is used."""
    safe = [own for own in known if own.endswith(kind)]
    network = next((own for own in wanted if own in safe), None)
    if network is None:
        listed = ", ".join(safe[:5]) or f"none that ends in {kind}"
        raise ParameterError(f"{repository} has no {' or '.join(wanted)}. Networks there: {listed}.", "file")
    return network


def _described(told: Any, name: str) -> _File:
    most = MOST_BYTES.get(name, MOST_NETWORK_BYTES)
    n_bytes = int(told.size or 0)
    if n_bytes > most:
        raise ParameterError(f"{told.rfilename} takes {size_of(n_bytes)}, and may take {size_of(most)}.", "file")
    sha256 = None if told.lfs is None else str(told.lfs.sha256)
    return _File(str(told.rfilename), name, n_bytes, sha256, str(told.blob_id))


def _download(client: Any, repository: str, commit: str, file: _File, incoming: Path) -> Path:
    place = Path(client.hf_hub_download(repository, file.path, revision=commit, local_dir=incoming))
    file.check(place)
    return place


def _move(places: dict[str, Path], folder: Path, origin: dict[str, str]) -> None:
    """Put files that were checked into their folder; the file that tells their origin is the last one."""
    folder.mkdir(parents=True, exist_ok=True)
    checksums = {name: checksum_of(place) for name, place in places.items()}
    for name, place in places.items():
        place.replace(folder / name)
    with written_whole(folder / ORIGIN) as file:
        file.write(json.dumps({**origin, "sha256": checksums}, indent=1).encode())


def _by_hand(repository: str, revision: str | None, folder: Path, packaged: bool, error: Exception) -> str:
    files = SAFE if packaged else f"{NETWORKS[0]}, {TOKENIZER} (for texts) and {CONFIG}"
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    place = f"{USUAL}/{repository}/tree/{revision or 'main'}"
    return f"{repository} could not be got from the hub: {reason}. By hand, put {files} of {place} into {folder}."
