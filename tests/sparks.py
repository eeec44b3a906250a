"""A local Spark session, and tables for it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adrem.datasets import DomainPair

FAULTS_OF_PYSPARK = pytest.mark.filterwarnings(
    # A warning that it does not support pandas 3, which is not used here.
    "ignore:PySpark does not yet fully support pandas:FutureWarning",
    # Before 4.0 it leaves sockets open.
    "ignore:unclosed <socket:ResourceWarning",
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
)


def needs_spark() -> None:
    """Skip a test module if Spark is not available."""
    pytest.importorskip("pyspark", reason='needs pyspark: pip install "adrem[spark]"')
    if shutil.which("java") is None:
        # Spark starts a Java virtual machine for every session: no test of these modules can run without one.
        pytest.skip("Spark needs a Java virtual machine, and there is none: install a JDK 17", allow_module_level=True)


def start_spark(master: str, folder: Path, **settings: str) -> Any:
    """Start Spark for small tables: without logs and web UI, with little compilation, writing to one folder only."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    every = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dderby.system.home={folder}",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "OFF",
        "spark.pyspark.python": sys.executable,
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.retainedJobs": "10000",
        "spark.ui.retainedStages": "10000",
        "spark.ui.showConsoleProgress": "false",
    }
    for key, value in {**every, **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def vectors(rows: Any) -> list[Any]:
    """Rows of a dense or a sparse table as vectors of the same kind."""
    from pyspark.ml.linalg import Vectors

    if isinstance(rows, np.ndarray):
        return [Vectors.dense(row) for row in rows]
    rows = rows.tocsr()
    rows.sort_indices()
    parts = zip(np.split(rows.indices, rows.indptr[1:-1]), np.split(rows.data, rows.indptr[1:-1]), strict=True)
    return [Vectors.sparse(rows.shape[1], places.tolist(), values.tolist()) for places, values in parts]


def table(spark: Any, data: DomainPair, target_label: float | None = None) -> Any:
    """Both domains in one DataFrame, with the number and the true label of each row."""
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql.types import DoubleType, IntegerType, StructType

    labels = np.concatenate([data.y_source, data.y_target]).astype(float).tolist()
    domains = [0] * len(data.y_source) + [-1] * len(data.y_target)
    every = vectors(data.X_source) + vectors(data.X_target)
    rows = [
        (number, vector, label if domain == 0 else target_label, domain, label)
        for number, (vector, label, domain) in enumerate(zip(every, labels, domains, strict=True))
    ]
    schema = StructType().add("number", IntegerType()).add("features", VectorUDT())
    schema = schema.add("label", DoubleType()).add("domain", IntegerType()).add("truth", DoubleType())
    return spark.createDataFrame(rows, schema)


def column(frame: Any, name: str) -> list[Any]:
    """The values of a column, ordered by row number."""
    return [row[name] for row in frame.select("number", name).sort("number").collect()]
