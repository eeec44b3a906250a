"""A transformer applied to the tables of two domains."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object

from adrem.base.reading import read_labels, read_table, read_target
from adrem.preprocessing.scalers import Rectifier
from adrem.preprocessing.transformer import SOURCE, TARGET
from adrem.types import Matrix


def transform_pair(transformer: Any, X_source: Any, X_target: Any, y_source: Any = None) -> tuple[Any, Any]:
    """Fit a transformer to a source and a target together, and transform both.

    Parameters
    ----------
    transformer : estimator
        A transformer of this package or of scikit-learn, or a pipeline of them. It is cloned, not fitted itself.
    X_source, X_target : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
        Rows of the two domains. Frames are matched by column name.
    y_source : array-like of shape (n_source,), default=None
        Labels of the source, for `TopFeatures`. Target labels are passed as NaN, which scikit-learn's transformers
        reject.

    Returns
    -------
    X_source : {ndarray, CSR array, frame} of shape (n_source, n_features_out)
        The transformed source rows.
    X_target : {ndarray, CSR array, frame} of shape (n_target, n_features_out)
        The transformed target rows.

    Examples
    --------
    >>> from adrem.preprocessing import JointStdScaler, transform_pair
    >>> X_source, X_target = transform_pair(JointStdScaler(), [[0.0], [4.0]], [[0.0], [4.0], [4.0], [0.0]])
    >>> X_target.tolist()
    [[0.0], [2.0], [2.0], [0.0]]
    """
    reader = Rectifier()  # any estimator: it holds the names and the number of the columns
    tables = (read_table(reader, X_source), read_target(reader, X_source, X_target))
    n_source, n_target = (table.shape[0] for table in tables)
    labels = None
    if y_source is not None:  # NaN can't be taken for a class
        labels = np.append(read_labels(y_source, n_source).astype(object), np.full(n_target, np.nan))
    return fit_transform_pair(clone(transformer), *tables, labels)


def fit_transform_pair(transformer: Any, source: Matrix, target: Matrix, labels: Any = None) -> tuple[Matrix, Matrix]:
    """Fit a transformer to two stacked tables, with labels for both, and transform them."""
    from adrem.machines.tables import stack

    n_source, n_target = source.shape[0], target.shape[0]
    domain = np.repeat([SOURCE, TARGET], [n_source, n_target])
    with config_context(enable_metadata_routing=True):
        takes = get_routing_for_object(transformer).consumes(method="fit_transform", params=["sample_domain"])
        transformed = transformer.fit_transform(stack([source, target]), labels, **dict.fromkeys(takes, domain))
    if sp.issparse(transformed):
        transformed = transformed.tocsr()
    return transformed[:n_source], transformed[n_source:]
