"""Fit twice on a small cluster, the second time with an executor killed half way, and write the outcome.

    python tests/spark/kill_executor.py FOLDER

This is a separate process, since a process can have only one Spark session.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from problems import make_blobs_shift
from sparks import column, start_spark, table


def n_jobs(spark: Any) -> int:
    return int(spark.sparkContext._jsc.sc().statusStore().jobsList(None).size())


def executors_of(jvm: int) -> list[int]:
    """Process ids of the executors that a JVM has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_text()
        except OSError:  # the process has ended
            continue
        if parent == jvm and "CoarseGrainedExecutorBackend" in command:
            found.append(int(folder.name))
    return found


def kill_one(spark: Any, after: int) -> None:
    """Kill an executor after this many jobs have started."""
    while n_jobs(spark) < after:
        time.sleep(0.02)
    os.kill(executors_of(spark._jvm.java.lang.ProcessHandle.current().pid())[0], signal.SIGKILL)


def n_lost(spark: Any) -> int:
    """Number of executors that the driver knows to be lost."""
    every = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(not every.apply(i).isActive() for i in range(every.size()))


def main(folder: Path) -> dict[str, Any]:
    from adrem.spark import AdREM

    spark = start_spark("local-cluster[2,1,1024]", folder)
    rows = str(folder / "rows")
    table(spark, make_blobs_shift(2, n_source=200, n_target=200)).repartition(4).write.parquet(rows)
    frame = spark.read.parquet(rows)
    # With these shares no iteration draws every row.
    adrem = AdREM(loss="log_loss", C=0.1, classPrior=[0.7, 0.3], nEstimators=1, nIter=4, maxIter=5)
    try:
        adrem.fit(frame)
        refusal = ""
    except RuntimeError as error:
        refusal = str(error)
    spark.sparkContext.setCheckpointDir(str(folder / "checkpoints"))
    before = n_jobs(spark)
    whole = adrem.fit(frame)
    needed = n_jobs(spark) - before
    killer = Thread(target=kill_one, args=(spark, before + needed + needed // 2))
    lost_before = n_lost(spark)
    killer.start()
    disturbed = adrem.fit(frame)
    killer.join()
    labels = [column(model.transform(frame), "prediction") for model in (whole, disturbed)]
    result = {
        "refusal": refusal,
        "lost": n_lost(spark) - lost_before,
        "labels": labels[0] == labels[1],
        "history": whole.history == disturbed.history,
        "left": [str(path) for path in (folder / "checkpoints").rglob("part-*")],
        "difference": float(np.max(np.abs(whole.coefficients - disturbed.coefficients))),
        "largest": float(np.max(np.abs(whole.coefficients))),
    }
    spark.stop()
    return result


if __name__ == "__main__":
    outcome = main(Path(sys.argv[1]))
    (Path(sys.argv[1]) / "outcome.json").write_text(json.dumps(outcome))
