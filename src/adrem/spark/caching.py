"""Cached tables, computed once by the first job that needs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import SparkContext, StorageLevel
from pyspark.sql import DataFrame


@contextmanager
def kept(frame: DataFrame, level: StorageLevel) -> Iterator[DataFrame]:
    """Cache a table for the duration of the context, and checkpoint it if a checkpoint directory is set."""
    context = frame.sparkSession.sparkContext
    if context.getCheckpointDir() is None:
        made = frame.localCheckpoint(eager=False, storageLevel=level)
        rows = _rows_of(made)
    else:
        made = frame.checkpoint(eager=False)
        rows = _rows_of(made)
        rows.persist(context._getJavaStorageLevel(level))
    try:
        yield made
    finally:
        rows.unpersist(False)
        _delete_checkpoint(rows, context)


def _rows_of(frame: DataFrame) -> Any:
    """Return the RDD of a checkpointed table."""
    return frame._jdf.queryExecution().logical().rdd()


def _delete_checkpoint(rows: Any, context: SparkContext) -> None:
    """Delete the files of a checkpoint if there are any; Spark does not."""
    file = rows.getCheckpointFile()
    if file.isDefined():
        jvm: Any = context._jvm
        path = jvm.org.apache.hadoop.fs.Path(file.get())
        path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)
