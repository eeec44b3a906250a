"""The paper's data sets, read as their owners publish them from the folder that ADREM_DATA names.

Preprocessing goes with each. Amazon, all features: divided by the standard deviation over both domains, not centred, to
stay sparse. SURF: rows divided by their sum, then each domain standardized. Deep features: rectified, then divided by
the joint standard deviation.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer


class Domain(NamedTuple):
    """Rows and labels of one domain."""

    X: Any
    y: Any


class DataSet(NamedTuple):
    """Domains by their letter, in the order of the paper's tables, and how a pair of them is scaled."""

    load: Callable[[], dict[str, Domain]]
    scale: Callable[[Any, Any], tuple[Any, Any]]


def data_home() -> Path:
    """The folder of the data sets."""
    if "ADREM_DATA" not in os.environ:
        raise SystemExit("Set ADREM_DATA to the folder of the data sets; CONTRIBUTING.md lists the files.")
    return Path(os.environ["ADREM_DATA"])


@cache
def amazon_reviews() -> dict[str, Domain]:
    """Blitzer et al. 2007: counts of unigrams and bigrams, all 473 856 of them."""
    reviews: list[Counter[str]] = []
    labels: list[str] = []
    domains: list[str] = []
    with tarfile.open(data_home() / "amazon-reviews" / "processed_acl.tar.gz") as archive:
        for member in sorted(archive.getnames()):
            path = Path(member)
            if path.name not in ("positive.review", "negative.review"):
                continue
            file = archive.extractfile(member) or io.BytesIO()
            for line in file.read().decode("utf-8").splitlines():
                *terms, label = line.split(" ")
                reviews.append(Counter({t: int(n) for t, _, n in (term.rpartition(":") for term in terms)}))
                labels.append(label.partition(":")[2])
                domains.append(path.parent.name)
    X = DictVectorizer(dtype=np.float64).fit_transform(reviews).tocsr()
    y, domain = np.array(labels), np.array(domains)
    return {name[0].upper(): Domain(X[domain == name], y[domain == name]) for name in np.unique(domain)}


@cache
def office_caltech_surf() -> dict[str, Domain]:
    """Gong et al. 2012: 800 bag-of-words counts of SURF features, 10 classes."""
    return {name[0].upper(): _read_surf(name) for name in ("amazon", "Caltech10", "dslr", "webcam")}


def _read_surf(name: str) -> Domain:
    content = scipy.io.loadmat(data_home() / "office-caltech-surf" / f"{name}_SURF_L10.mat")
    return Domain(content["fts"].astype(np.float64), content["labels"].ravel())


@cache
def office_caltech_resnet50() -> dict[str, Domain]:
    """ResNet-50 features of Office-Caltech 10."""
    return {
        n[0].upper(): _read_features("office-caltech-resnet50", n) for n in ("amazon", "caltech10", "dslr", "webcam")
    }


@cache
def office_31_resnet50() -> dict[str, Domain]:
    """ResNet-50 features of Office-31."""
    return {name[0].upper(): _read_features("office-31-resnet50", name) for name in ("amazon", "dslr", "webcam")}


def _read_features(folder: str, name: str) -> Domain:
    with np.load(data_home() / folder / f"{name}.npz", allow_pickle=False) as content:
        return Domain(content["x"].astype(np.float32), content["y"])


def divide_by_joint_std(source: Any, target: Any) -> tuple[Any, Any]:
    """Divide each feature by its standard deviation over both domains; a constant feature stays as it is."""
    if sp.issparse(source):
        both = sp.vstack([source, target]).astype(np.float64)
        mean = np.asarray(both.mean(axis=0)).ravel()
        deviation = np.sqrt(np.maximum(np.asarray(both.multiply(both).mean(axis=0)).ravel() - mean**2, 0.0))
        scale = sp.diags_array(1.0 / np.where(deviation > 0, deviation, 1.0))
        return (source @ scale).tocsr(), (target @ scale).tocsr()
    deviation = np.concatenate([source, target]).std(axis=0, dtype=np.float64).astype(source.dtype)
    deviation[deviation == 0] = 1
    return source / deviation, target / deviation


def standardize_rows_then_domains(source: Any, target: Any) -> tuple[Any, Any]:
    """Divide each row by its sum, then standardize each domain by itself."""
    return _standardize(source / source.sum(axis=1, keepdims=True)), _standardize(
        target / target.sum(axis=1, keepdims=True)
    )


def _standardize(X: Any) -> Any:
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def rectify_and_divide(source: Any, target: Any) -> tuple[Any, Any]:
    """Set negative values to zero, then divide by the joint standard deviation."""
    return divide_by_joint_std(np.maximum(source, 0), np.maximum(target, 0))


DATA_SETS = {
    "amazon-reviews": DataSet(amazon_reviews, divide_by_joint_std),
    "office-31-resnet50": DataSet(office_31_resnet50, rectify_and_divide),
    "office-caltech-resnet50": DataSet(office_caltech_resnet50, rectify_and_divide),
    "office-caltech-surf": DataSet(office_caltech_surf, standardize_rows_then_domains),
}


def pairs(name: str) -> list[str]:
    """All pairs of a data set, such as ``A>W``."""
    return [f"{a}>{b}" for a, b in permutations(DATA_SETS[name].load(), 2)]


def load_pair(name: str, pair: str) -> tuple[Domain, Domain]:
    """Source and target of a pair, scaled."""
    data = DATA_SETS[name]
    source, target = (data.load()[letter] for letter in pair.split(">"))
    X_source, X_target = data.scale(source.X, target.X)
    return Domain(X_source, source.y), Domain(X_target, target.y)
