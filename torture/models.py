"""Model files made to run code, to exhaust memory or to reach outside, and damaged ones: each must be refused."""

from __future__ import annotations

import io
import json
import pickle
import resource
import struct
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.lib import format as npy
from numpy.random import RandomState

from torture.outcomes import ANSWERED, REFUSED, Row
from torture.tables import N_CLASSES, N_NEW, N_SOURCE, N_TARGET, rows
from torture.worker import run_cases

MOST_MEMORY = 200_000_000  # bytes that reading a hostile file may take
MARK = "the file ran code"
Members = dict[str, bytes]


class Payload:
    """What unpickling would run: it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.write_text, (self.path, MARK))


def table_of(n_rows: int, seed: int) -> pd.DataFrame:
    """Rows with names of the features."""
    return pd.DataFrame(rows(n_rows, seed), columns=list("abcdef"))


def good_model(path: Path) -> None:
    """A small model file, with a path of classifiers in it and names of the features."""
    from adrem import AdREM, save

    X, X_target = table_of(N_SOURCE, 1), table_of(N_TARGET, 2)
    y = np.array(["ant", "bee", "cow"])[np.arange(N_SOURCE) % N_CLASSES]
    model = AdREM(C=1.0, n_iter=2, n_estimators=2, store_path=True, class_prior="estimate", random_state=0)
    save(model.fit(X, y, X_target=X_target), path)


def members_of(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Members, **more: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**members, **more}.items():
            archive.writestr(name, content)
    return file.getvalue()


def array_bytes(array: Any, allow_pickle: bool = False) -> bytes:
    file = io.BytesIO()
    npy.write_array(file, np.asanyarray(array), allow_pickle=allow_pickle)
    return file.getvalue()


def lying_array(shape: Any, descr: Any = "<f8", content: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    """An array whose header says other things than what follows it."""
    file = io.BytesIO()
    header = {"shape": shape, "fortran_order": False, "descr": descr}
    write = npy.write_array_header_1_0 if version == (1, 0) else npy.write_array_header_2_0
    write(file, header)
    return file.getvalue() + content


def with_member(name: str, make: Callable[[Path], bytes]) -> Callable[[bytes, Path], bytes]:
    return lambda good, folder: zipped({**members_of(good), name: make(folder)})


def with_header(change: Callable[[dict[str, Any]], Any]) -> Callable[[bytes, Path], bytes]:
    def attack(good: bytes, _: Path) -> bytes:
        members = members_of(good)
        header = json.loads(npy.read_array(io.BytesIO(members["header.npy"])).tobytes())
        changed = change(header)
        text = changed if isinstance(changed, bytes) else json.dumps(header).encode()
        return zipped({**members, "header.npy": array_bytes(np.frombuffer(text, np.uint8))})

    return attack


def _put(key: str, value: Any, header: dict[str, Any]) -> None:
    header[key] = value


def with_array(name: str, change: Callable[[Any], Any]) -> Callable[[bytes, Path], bytes]:
    def attack(good: bytes, _: Path) -> bytes:
        members = members_of(good)
        return zipped({**members, name: array_bytes(change(npy.read_array(io.BytesIO(members[name]))))})

    return attack


def bomb(good: bytes, _: Path) -> bytes:
    """Five gigabytes of zeros in five megabytes."""
    file = io.BytesIO()
    zeros = bytes(1 << 26)
    n_zeros = 5 * 10**9 // len(zeros)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members_of(good).items():
            if name != "coef_.npy":
                archive.writestr(name, content)
        with archive.open("coef_.npy", "w", force_zip64=True) as stream:
            stream.write(lying_array((n_zeros * len(zeros) // 8,)))
            for _k in range(n_zeros):
                stream.write(zeros)
    return file.getvalue()


def says_less(good: bytes, begin: bytes, size: int) -> bytes:
    """A gigabyte whose archive says that it has a smaller size."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members_of(good).items():
            if name != "coef_.npy":
                archive.writestr(name, content)
        with archive.open("coef_.npy", "w") as stream:
            stream.write(begin)
            for _k in range(16):
                stream.write(bytes(1 << 26))
        archive.getinfo("coef_.npy").file_size = size
    return file.getvalue()


def says_what_its_array_says(good: bytes, _: Path) -> bytes:
    """A gigabyte that is said to be an array of twenty thousand numbers, by the archive and by the array."""
    content = lying_array((20_000,))
    return says_less(good, content, len(content) + 160_000)


def many_members(good: bytes, _: Path) -> bytes:
    return zipped({**members_of(good), **{f"x{k}.npy": array_bytes(np.zeros(1)) for k in range(20_000)}})


def endless_directory(good: bytes, _: Path) -> bytes:
    """A directory of half a million members that are one, in twenty-five megabytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x", b"")
    content = file.getvalue()
    begin, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    entries = content[begin:end] * 500_000
    sizes = struct.pack("<HHII", 65535, 65535, len(entries), begin)
    return content[:begin] + entries + content[end : end + 8] + sizes + content[end + 20 :] + good[:0]


def long_names(n_letters: int, *arrays: str) -> Callable[[bytes, Path], bytes]:
    """Labels as strings of so many letters."""

    def attack(good: bytes, _: Path) -> bytes:
        members = members_of(good)
        for name in arrays:
            labels = npy.read_array(io.BytesIO(members[name]))
            members[name] = array_bytes(labels.astype(f"U{n_letters}"))
        return zipped(members)

    return attack


def history_with(**values: Any) -> Callable[[bytes, Path], bytes]:
    """A history whose last entry says something else."""
    return with_header(lambda header: header["history_"][-1].update(values))


def twice_the_same(good: bytes, _: Path) -> bytes:
    file = io.BytesIO(good)
    with zipfile.ZipFile(file, "a") as archive:
        archive.filelist.append(archive.filelist[0])
        archive.comment = b""  # setting it, even to the same, writes the directory anew
    return file.getvalue()


def link(good: bytes, _: Path) -> bytes:
    """A member that is a link out of the archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members_of(good).items():
            if name != "coef_.npy":
                archive.writestr(name, content)
        entry = zipfile.ZipInfo("coef_.npy")
        entry.create_system, entry.external_attr = 3, 0o120777 << 16
        archive.writestr(entry, "/etc/passwd")
    return file.getvalue()


CODE: dict[str, Callable[[bytes, Path], bytes]] = {
    "a pickle": lambda _, folder: pickle.dumps(Payload(folder / "ran")),
    "a pickled array": lambda _, folder: array_bytes(np.array([Payload(folder / "ran")]), allow_pickle=True),
    "objects as coef_": with_member(
        "coef_.npy", lambda folder: array_bytes(np.array([Payload(folder / "ran")]), allow_pickle=True)
    ),
    "objects as header": with_member(
        "header.npy", lambda folder: array_bytes(np.array([Payload(folder / "ran")]), allow_pickle=True)
    ),
    "objects as classes_": with_member(
        "classes_.npy", lambda folder: array_bytes(np.array([Payload(folder / "ran")] * 3), allow_pickle=True)
    ),
    "a pickle as a member": with_member("data.pkl", lambda folder: pickle.dumps(Payload(folder / "ran"))),
    "a module as a member": with_member(
        "sitecustomize.py", lambda folder: f"open({str(folder / 'ran')!r}, 'w')".encode()
    ),
    "a header that is code": with_member("coef_.npy", lambda _: _code_header()),
    "another class": with_header(lambda h: h.update(model="Popen")),
    "a class by its path": with_header(lambda h: h.update(model="subprocess.Popen")),
    "a parameter that is no parameter": with_header(lambda h: h["params"].update(__class__="os.system")),
    "a kernel by name": with_header(lambda h: h["params"].update(kernel="os.system")),
    "private attributes": with_header(lambda h: h.update(_parameter_constraints={})),
    "methods for arrays": with_member("predict.npy", lambda _: array_bytes(np.zeros(3))),
    "types that hold objects": with_member("coef_.npy", lambda _: lying_array((1,), "|O", b"cos\nsystem\n")),
}


def _code_header() -> bytes:
    text = b"{'descr': __import__('os').getcwd(), 'fortran_order': False, 'shape': (1,)}"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


MANY_TYPES = [(f"a{k}", "<f8") for k in range(5000)]
MEMORY: dict[str, Callable[[bytes, Path], bytes]] = {
    "a bomb of 5 GB": bomb,
    "a bomb that says 128 bytes": lambda good, _: says_less(good, lying_array((10**9 // 8,)), 128),
    "a bomb that says what its array says": says_what_its_array_says,
    "a header of fifty million brackets": with_header(lambda _: b"[" + b"[]," * 50_000_000 + b"[]]"),
    "a shape of 8 TB": with_member("coef_.npy", lambda _: lying_array((10**12,))),
    "a shape beyond all numbers": with_member("coef_.npy", lambda _: lying_array((2**62, 2**62))),
    "a negative shape": with_member("coef_.npy", lambda _: lying_array((-1, 8), content=bytes(64))),
    "a shape of words": with_member("coef_.npy", lambda _: lying_array(("a",))),
    "strings of 4 GB": with_member("classes_.npy", lambda _: lying_array((3,), "<U1000000000")),
    "a trillion of nothing": with_member("classes_.npy", lambda _: lying_array((10**12,), "|V0")),
    "a trillion of empty strings": with_member("classes_.npy", lambda _: lying_array((10**12,), "<U0")),
    "a type of types": with_member(
        "coef_.npy", lambda _: lying_array((1,), [(f"a{k}", "<f8") for k in range(5000)], version=(2, 0))
    ),
    "a header of 4 GB": with_member("coef_.npy", lambda _: b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"),
    "two billion features": with_header(lambda h: h.update(n_features_in_=2 * 10**9)),
    "negative features": with_header(lambda h: h.update(n_features_in_=-6)),
    "a header of a million brackets": with_header(lambda _: b"[" * 10**6),
    "a number of ten million digits": with_header(lambda _: b'{"format": ' + b"9" * 10**7 + b"}"),
    "twenty thousand members": many_members,
    "a directory of half a million members": endless_directory,
    "fifteen million small objects": with_header(lambda _: b"[" + b'{"":{}},' * 15_000_000 + b"[]]"),
    "a text of commas": with_header(lambda _: b'{"format": "' + b"," * 10**7 + b'"}'),
    "a class of 100 000 letters": long_names(100_000, "classes_.npy", "transduction_.npy"),
    "labels longer than the classes": long_names(900, "transduction_.npy"),
    "an iteration of a trillion": history_with(iteration=10**12),
    "a member of a trillion": history_with(member=10**12),
    "a loss beyond all floats": history_with(loss=10**400),
    "a trillion neighbours": with_header(lambda h: h.update(neighbors_=10**12)),
    "coefficients of 1e308": with_array("coef_.npy", lambda a: np.full_like(a, 1e308)),
    "intercepts of 1e308": with_array("intercept_.npy", lambda a: np.full_like(a, -1e308)),
    "a member twice": twice_the_same,
    "a zip in a zip": lambda good, _: zipped({"header.npy": good}),
}

OUTSIDE: dict[str, Callable[[bytes, Path], bytes]] = {
    "a name that climbs": with_member("../evil.npy", lambda _: array_bytes(np.zeros(1))),
    "a name that climbs far": with_member("../" * 20 + "tmp/evil.npy", lambda _: array_bytes(np.zeros(1))),
    "a name from the root": with_member("/tmp/evil.npy", lambda _: array_bytes(np.zeros(1))),  # noqa: S108
    "a name of another system": with_member("C:\\evil.npy", lambda _: array_bytes(np.zeros(1))),
    "a link": link,
}

_FORMATS: tuple[Any, ...] = (3, 999, 0, -1, 2.5, "2", None, [], 10**30)
FORMATS: dict[str, Callable[[bytes, Path], bytes]] = {
    f"format {value!r}": with_header(partial(_put, "format_version", value)) for value in _FORMATS
}

_NAMES = ("classes_", "coef_", "intercept_", "transduction_", "vote_share_", "class_prior_", "coef_path_", "sources_")
CHANGES: dict[str, Callable[[Any], Any]] = {
    "NaN": lambda a: _filled(a, np.nan),
    "infinity": lambda a: _filled(a, np.inf),
    "other numbers": lambda a: a.astype(np.complex128) if a.dtype.kind == "f" else np.arange(a.size) + 0.5,
    "whole numbers": lambda a: np.zeros(a.shape, dtype=int),
    "strings": lambda a: np.full(a.shape, "word"),
    "dates": lambda a: np.zeros(a.shape, dtype="datetime64[s]"),
    "fewer": lambda a: a[:-1],
    "none": lambda a: a[:0],
    "one axis more": lambda a: a[None],
    "no axis": lambda _: np.float64(1.0),
    "twice": lambda a: np.concatenate([a, a]),
}


def _filled(array: Any, value: float) -> Any:
    changed = array.astype(float) if array.dtype.kind == "f" else np.zeros(array.shape)
    changed.ravel()[:1] = value
    return changed


ARRAYS: dict[str, Callable[[bytes, Path], bytes]] = {
    f"{name} with {what}": with_array(f"{name}.npy", change)
    for name in _NAMES
    if name != "sources_"
    for what, change in CHANGES.items()
}
_KEYS = (
    "format", "format_version", "adrem_version", "model", "params", "objects", "n_features_in_", "feature_names_in_",
    "C_", "machine_", "history_", "termination_", "neighbors_",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (None, "", -1, 2.5, [], {}, [[]], ["\ud800"], True, 10**400, float("nan"))
HEADERS: dict[str, Callable[[bytes, Path], bytes]] = {
    f"{key} = {str(value)[:20]!r}": with_header(partial(_put, key, value)) for key in _KEYS for value in _VALUES
}


def cut(position: float) -> Callable[[bytes, Path], bytes]:
    return lambda good, _: good[: int(position * len(good))]


def flipped(seed: int) -> Callable[[bytes, Path], bytes]:
    """Some bytes changed, here and there or in a row."""

    def attack(good: bytes, _: Path) -> bytes:
        rng = RandomState(seed)
        content = bytearray(good)
        first = rng.randint(len(content))
        for k in range(rng.randint(1, 9)):
            place = (first + k if seed % 2 else rng.randint(len(content))) % len(content)
            content[place] = rng.randint(256)
        return bytes(content)

    return attack


def all_attacks(*, full: bool = False) -> dict[str, dict[str, Callable[[bytes, Path], bytes]]]:
    """Attacks by their aim."""
    return {
        "made to run code": CODE,
        "made to exhaust memory": MEMORY,
        "made to reach outside": OUTSIDE,
        "of other formats": FORMATS,
        "with altered arrays": ARRAYS,
        "with altered headers": HEADERS,
        "cut off": {f"cut at {k} %": cut(k / 100) for k in range(100)},
        "altered": {f"altered by seed {seed}": flipped(seed) for seed in range(5000 if full else 500)},
    }


def serving(_: str) -> Callable[[str], str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "good.adrem"
        good_model(path)
        good = path.read_bytes()
    attacks = {name: attack for group in all_attacks(full=True).values() for name, attack in group.items()}
    return lambda name: outcome_of(good, attacks[name])


def outcome_of(good: bytes, attack: Callable[[bytes, Path], bytes]) -> str:
    """What comes of loading a hostile file, and of using what was loaded."""
    from adrem import load

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.adrem"
        path.write_bytes(attack(good, Path(folder)))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            model = load(path)
        except ValueError as error:
            outcome = REFUSED if path.name in str(error) or "model file" in str(error) else f"unclear: {error}"
        except Exception as error:  # whatever it is, it is the outcome
            outcome = f"raised {type(error).__name__}: {error}"
        else:
            proba = model.predict_proba(table_of(N_NEW, 3))
            outcome = ANSWERED if np.all(np.isfinite(proba)) else "gave shares that are not finite"
        taken = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        if taken > MOST_MEMORY:
            return f"took {taken / 1e6:.0f} MB"
        return outcome if [found.name for found in Path(folder).iterdir()] == [path.name] else "left files behind"


def run(*, full: bool) -> list[Row]:
    """Every attack in a process that may die of it."""
    table = []
    for aim, attacks in all_attacks(full=full).items():
        outcomes = run_cases("torture.models", "all", attacks)
        hostile = aim.startswith("made to") or aim == "of other formats"
        if hostile:  # these hold nothing that could be an answer
            outcomes = [(name, "was read" if outcome == ANSWERED else outcome) for name, outcome in outcomes]
        table.append(Row.of("model files", aim, outcomes))
    return table
