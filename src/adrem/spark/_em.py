"""Algorithm 1 of the paper on rows that are spread over machines.

An iteration is a job that labels and counts, and MLlib's training. Labels are cached and checkpointed, and each
iteration stands on the rows as they were kept: what is lost with an executor comes out the same, and no plan grows with
the iterations.
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

from adrem.spark._classifiers import WEIGHT, Classifiers, Trainer, highest, with_scores
from adrem.spark._draws import CLASS, SLICE, Draw, count_rows, count_slices, slice_of
from adrem.spark._kept import kept
from adrem.spark._tables import FEATURES, IS_TARGET, LABEL, ROW, Overview

SCORES = "scores"


@dataclass(frozen=True)
class Task:
    """The rows that are kept, what is known of them, and all that training on them needs."""

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
        """Train on growing random subsets of the target, relabelling all of it before each training.

        Returns the last classifiers, and for each iteration the target rows of each class and those drawn.
        """
        classifiers = source
        history = []
        for k in range(1, self.n_iter + 1):
            where = f"Ad-REM: member {member}, iteration {k}"
            with _described(self.rows, where), self._labelled(classifiers, member, k) as labelled:
                counts = count_rows(labelled.where(IS_TARGET), len(self.prior), self.n_slices)
                draw = Draw.of(k / self.n_iter * self.overview.n_target, self.prior, counts)
                weight = sf.when(sf.col(IS_TARGET), draw.weight()).otherwise(1.0)
                drawn = labelled.withColumn(WEIGHT, weight).where(sf.col(WEIGHT) > 0)
                classifiers = self.trainer.train(drawn, self.n_source + draw.total)
            by_class = counts.sum(axis=1).tolist()
            history.append({"member": member, "iteration": k, "classCounts": by_class, "drawn": draw.total})
        return classifiers, history

    def _labelled(self, classifiers: Classifiers, member: int, k: int) -> AbstractContextManager[DataFrame]:
        """The E-step: rows with a class each, the given one or that of the highest score, and their slices."""
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
    """Name the jobs of a step in Spark's pages."""
    context = rows.sparkSession.sparkContext
    key = "spark.job.description"
    before = context.getLocalProperty(key)
    context.setLocalProperty(key, what)
    try:
        yield
    finally:
        context.setLocalProperty(key, before)
