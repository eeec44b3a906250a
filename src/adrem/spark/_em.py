"""Algorithm 1 of the paper on rows that are spread over machines.

The class of a target row is a function of the row and of the last classifiers, and its weight one of its number, of
its class and of the seed. So every iteration stands on the rows as they were kept: what is lost with an executor is
computed again and comes out the same, and no plan grows with the iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from adrem._sampling import quota
from adrem.spark._classifiers import CLASS, WEIGHT, Classifiers, Trainer, highest, with_scores
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

    def train_source(self) -> Classifiers:
        """Train on the source alone."""
        with _described(self.rows, "Ad-REM: source"):
            source = self.rows.where(~sf.col(IS_TARGET)).withColumn(CLASS, self._class_of_source())
            return self.trainer.train(source.withColumn(WEIGHT, sf.lit(1.0)), self.n_source)

    def run_member(self, source: Classifiers, member: int) -> tuple[Classifiers, list[dict[str, Any]]]:
        """Train on growing random subsets of the target, relabelling all of it before each training.

        Returns the last classifiers, and for each iteration the target rows of each class and the weight drawn.
        """
        classifiers = source
        history = []
        for k in range(1, self.n_iter + 1):
            where = f"Ad-REM: member {member}, iteration {k}"
            with _described(self.rows, where), self._labelled(classifiers) as labelled:
                counts = self._class_counts(labelled)
                drawn = labelled.withColumn(WEIGHT, self._weight(counts, member, k)).where(sf.col(WEIGHT) > 0)
                total = float(drawn.agg(sf.sum(WEIGHT)).first()[0])
                classifiers = self.trainer.train(drawn, total)
            history.append({"member": member, "iteration": k, "classCounts": counts, "drawn": total - self.n_source})
        return classifiers, history

    @contextmanager
    def _labelled(self, classifiers: Classifiers) -> Iterator[DataFrame]:
        """The E-step: rows with a class each, the given one or that of the highest score, cached while in use."""
        scored = with_scores(self.rows, [classifiers], FEATURES, [SCORES])
        of_row = sf.when(sf.col(IS_TARGET), highest(sf.col(SCORES))).otherwise(self._class_of_source())
        labelled = scored.select(ROW, FEATURES, IS_TARGET, of_row.alias(CLASS)).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            yield labelled
        finally:
            labelled.unpersist()

    def _class_of_source(self) -> Column:
        labels = sf.array(*map(sf.lit, self.overview.classes.tolist()))
        return (sf.array_position(labels, sf.col(LABEL)) - 1).cast("int")

    def _class_counts(self, labelled: DataFrame) -> list[int]:
        found = labelled.where(IS_TARGET).groupBy(CLASS).count().collect()
        counts = dict.fromkeys(range(len(self.prior)), 0) | {group[CLASS]: group["count"] for group in found}
        return list(counts.values())

    def _weight(self, counts: list[int], member: int, k: int) -> Column:
        """How often a row counts: a source row once, a target row as often as it is drawn.

        As in `adrem._sampling` each row of a class is drawn as many whole times as fit into the share of its class.
        The rest is drawn by the hash of a row's number: each row once more with the same probability, so that its
        count is right on average, where the local draw is exact.
        """
        size = k / self.n_iter * self.overview.n_target
        quotas = [quota(size * share, max(n, 1)) for share, n in zip(self.prior, counts, strict=True)]
        times = sf.array(*(sf.lit(float(whole)) for whole, _ in quotas))
        chances = sf.array(*(sf.lit(rest / max(n, 1)) for (_, rest), n in zip(quotas, counts, strict=True)))
        number = sf.xxhash64(sf.col(ROW), sf.lit(self.seed), sf.lit(member), sf.lit(k))
        uniform = sf.shiftrightunsigned(number, 11) * sf.lit(2.0**-53)
        drawn = times[sf.col(CLASS)] + (uniform < chances[sf.col(CLASS)]).cast("double")
        return sf.when(sf.col(IS_TARGET), drawn).otherwise(1.0)


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
