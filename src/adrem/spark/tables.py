"""Check and number the rows of a DataFrame, and cache them."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, NumericType

from adrem.exceptions import InvalidDataError, InvalidTypeError, ParameterError, SparkError
from adrem.spark.caching import kept

# Columns of the cached rows. The label is null for target rows.
ROW, FEATURES, LABEL, IS_TARGET = "row", "features", "label", "is_target"
MAX_CLASSES = 1000
UNKNOWN = "__unknown"  # the class of missing labels by StringIndexer(handleInvalid="keep")
NUMERIC_COLUMNS = {
    "labelCol": "numbers; make them by StringIndexer, handleInvalid='keep', fitted on source rows with a label",
    "domainCol": "numbers, below 0 for the target; make them by when(..., -1).otherwise(0)",
}


def check_columns(dataset: DataFrame, features: str, **numbers: str) -> None:
    """Raise an error if a column is missing or has the wrong type."""
    types = {field.name: field.dataType for field in dataset.schema.fields}
    _check_type(types, "featuresCol", features, VectorUDT, "vectors (pyspark.ml.linalg); make them by VectorAssembler")
    for param, column in numbers.items():
        _check_type(types, param, column, NumericType, NUMERIC_COLUMNS[param])


def _check_type(types: dict[str, DataType], param: str, column: str, kind: type, wanted: str) -> None:
    if column not in types:
        raise ParameterError(f"{param} is {column!r}, which is not a column: the columns are {list(types)}.", param)
    if not isinstance(types[column], kind):
        raise InvalidTypeError(f"{param}={column!r} must hold {wanted}. It is {types[column]}.")


def kept_rows(dataset: DataFrame, features: str, label: str, domain: str) -> AbstractContextManager[DataFrame]:
    """Number and cache the rows; labels of the target are not read."""
    context = dataset.sparkSession.sparkContext
    is_local = context.master == "local" or context.master.startswith("local[")
    if not is_local and context.getCheckpointDir() is None:
        raise SparkError(
            "On a cluster the rows are checkpointed, so that a lost executor does not change the result: call "
            "spark.sparkContext.setCheckpointDir with a directory that all executors can reach."
        )
    of_domain = _column(domain).cast("double")
    rows = dataset.select(
        sf.monotonically_increasing_id().alias(ROW),
        _column(features).alias(FEATURES),
        sf.when(of_domain >= 0, _known_label(dataset, label)).alias(LABEL),
        sf.when(~sf.isnan(of_domain), of_domain < 0).alias(IS_TARGET),
    )
    return kept(rows, StorageLevel.DISK_ONLY)


def _known_label(dataset: DataFrame, label: str) -> Column:
    """Return the label as a number; null if StringIndexer marked it as missing or unknown."""
    number = _column(label).cast("double")
    names = dataset.schema[label].metadata.get("ml_attr", {}).get("vals", [])
    return sf.when(number != float(names.index(UNKNOWN)), number) if UNKNOWN in names else number


def _column(name: str) -> Column:
    """Return a column by its exact name, which may contain dots."""
    quoted = name.replace("`", "``")
    return sf.col(f"`{quoted}`")


@dataclass(frozen=True)
class Overview:
    """The sorted classes, the number of source rows of each, and the number of target rows."""

    classes: NDArray[np.float64]
    source_counts: NDArray[np.int64]
    n_target: int


def overview(rows: DataFrame) -> Overview:
    """Count rows by class in one job; raise an error for invalid rows."""
    found = rows.groupBy(
        IS_TARGET, LABEL, _length(sf.col(FEATURES)).alias("length"), _flaw().alias("flaw")
    ).count().limit(10 * MAX_CLASSES).collect()  # fmt: skip
    _refuse_flaws(found)
    lengths = sorted({group["length"] for group in found})
    if len(lengths) > 1:
        raise InvalidDataError(
            f"The vectors have different lengths: {lengths[:10]}. Use the same transformer for all rows."
        )
    source = Counter({group[LABEL]: group["count"] for group in found if not group[IS_TARGET]})
    n_target = sum(group["count"] for group in found if group[IS_TARGET])
    _refuse_missing(len(source), n_target)
    classes = sorted(source)
    return Overview(np.array(classes), np.array([source[label] for label in classes]), n_target)


def _refuse_missing(n_classes: int, n_target: int) -> None:
    if n_classes == 0:
        raise InvalidDataError("There are no source rows: their domain is 0 or more.")
    if n_classes > MAX_CLASSES:
        raise InvalidDataError(
            f"The source has more than {MAX_CLASSES} different labels. If they are amounts, bin them with Bucketizer."
        )
    if n_target == 0:
        raise InvalidDataError("There are no target rows: their domain is below 0.")
    if n_classes == 1:
        raise InvalidDataError("All source rows have the same label: give rows of at least two classes.")


def of_length(n_features: int, features: str) -> Column:
    """Return the column of vectors; a vector of another length raises an error."""
    vector, length = _column(features), _length(_column(features))
    message = sf.concat(sf.lit(f"The model was fitted to vectors of length {n_features}, got one of length "), length)
    return sf.when(vector.isNull() | (length == n_features), vector).otherwise(sf.raise_error(message))


def _length(features: Column) -> Column:
    vector = sf.unwrap_udt(features)
    return sf.coalesce(vector["size"], sf.size(vector["values"]))


def _flaw() -> Column:
    """Return why a row is invalid; null if it is valid."""
    values = sf.unwrap_udt(FEATURES)["values"]
    has_no_label = sf.col(LABEL).isNull() | sf.isnan(LABEL) | (sf.abs(LABEL) == inf)
    return (
        sf.when(sf.col(IS_TARGET).isNull(), "no domain (null or NaN)")
        .when(sf.col(FEATURES).isNull(), "no features (null)")
        .when(sf.exists(values, lambda x: sf.isnan(x) | (sf.abs(x) == inf)), "features that are NaN or infinite")
        .when(~sf.col(IS_TARGET) & has_no_label, "a source domain and no label (null, NaN or infinite)")
    )


def _refuse_flaws(found: list[Any]) -> None:
    flaws: Counter[str] = Counter()
    for group in found:
        if group["flaw"] is not None:
            flaws[group["flaw"]] += group["count"]
    if flaws:
        counts = "; ".join(f"{count} rows have {flaw}" for flaw, count in flaws.items())
        raise InvalidDataError(f"{counts}. Fix or drop these rows; target rows need no label, and a domain below 0.")
