"""Algorithm 1 of the paper on distributed rows.

An iteration runs a job that labels and counts rows, then MLlib's training. Labels are cached and checkpointed, so that
a lost executor does not change the result, and the query plan does not grow with the iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from adrem.spark.caching import kept
from adrem.spark.classifiers import WEIGHT, Classifiers, Trainer, highest, with_scores
from adrem.spark.draws import CLASS, SLICE, SlicedDraw, count_rows, count_slices, slice_of
from adrem.spark.tables import FEATURES, IS_TARGET, LABEL, ROW, Overview

SCORES = "scores"


@dataclass(frozen=True)
class SparkTask:
    """The cached rows, their counts, and the training settings."""

    rows: DataFrame
    overview: Overview
    prior: NDArray[np.float64]
    trainer: Trainer
    n_iter: int
    seed: int

    @property
    def n_source(self) -> int:
        return int(self.overview.source_counts.sum())

    @property
    def n_slices(self) -> int:
        return count_slices(len(self.prior))

    def train_source(self) -> Classifiers:
        """Train on the source alone."""
        with _described(self.rows, "Ad-REM: source"):
            source = self.rows.where(~sf.col(IS_TARGET)).withColumn(CLASS, self._class_of_source())
            return self.trainer.train(source.withColumn(WEIGHT, sf.lit(1.0)), self.n_source)

    def run_member(self, source: Classifiers, member: int) -> tuple[Classifiers, list[dict[str, Any]]]:
        """Run the iterations of a member; return its last classifiers and its history."""
        classifiers = source
        history = []
        for k in range(1, self.n_iter + 1):
            where = f"Ad-REM: member {member}, iteration {k}"
            with _described(self.rows, where), self._labelled(classifiers, member, k) as labelled:
                counts = count_rows(labelled.where(IS_TARGET), len(self.prior), self.n_slices)
                draw = SlicedDraw.of(k / self.n_iter * self.overview.n_target, self.prior, counts)
                weight = sf.when(sf.col(IS_TARGET), draw.weight()).otherwise(1.0)
                drawn = labelled.withColumn(WEIGHT, weight).where(sf.col(WEIGHT) > 0)
                classifiers = self.trainer.train(drawn, self.n_source + draw.total)
            by_class = counts.sum(axis=1).tolist()
            history.append({"member": member, "iteration": k, "classCounts": by_class, "drawn": draw.total})
        return classifiers, history

    def _labelled(self, classifiers: Classifiers, member: int, k: int) -> AbstractContextManager[DataFrame]:
        """Run the E-step: add the slice and the class of each row; a target row gets the class of highest score."""
        scored = with_scores(self.rows, [classifiers], FEATURES, [SCORES])
        of_row = sf.when(sf.col(IS_TARGET), highest(sf.col(SCORES))).otherwise(self._class_of_source())
        in_slice = slice_of(sf.col(ROW), self.n_slices, self.seed, member, k)
        labelled = scored.select(FEATURES, IS_TARGET, of_row.alias(CLASS), in_slice.alias(SLICE))
        return kept(labelled, StorageLevel.MEMORY_AND_DISK)

    def _class_of_source(self) -> Column:
        labels = sf.array(*map(sf.lit, self.overview.classes.tolist()))
        return (sf.array_position(labels, sf.col(LABEL)) - 1).cast("int")


@contextmanager
def _described(rows: DataFrame, what: str) -> Iterator[None]:
    """Set the description of jobs in the Spark UI."""
    context = rows.sparkSession.sparkContext
    key = "spark.job.description"
    before = context.getLocalProperty(key)
    context.setLocalProperty(key, what)
    try:
        yield
    finally:
        context.setLocalProperty(key, before)
