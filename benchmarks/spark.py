"""Fit a million rows of sparse text on Spark: time, memory, and stages and shuffles of each iteration.

    python benchmarks/spark.py [--rows 1000000] [--bits 20] [--iterations 3] [--memory 6g] [--partitions 2]

Half of the rows are source. A row is 50 words, hashed by MLlib. Ten of them tell the class, seven of ten truly, and
half of these are other words in the target than in the source; the rest are the likelier the lower their number. One
member is trained on ``local[2]``, C given. No iteration may take more stages than the first, nor shuffle more, but for
the passes over the rows that MLlib's optimizer needs, which depend on the labels.
"""

from __future__ import annotations

import argparse
import platform
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

N_WORDS = 50
C = 1e-3


@dataclass
class Step:
    """What Spark did for a step: its jobs, their stages, the passes of the optimizer among them, and bytes written."""

    jobs: int = 0
    stages: int = 0
    passes: int = 0
    pass_stages: int = 0
    shuffled: int = 0
    pass_shuffled: int = 0


def steps(spark: Any, since: int = 0) -> dict[str, Step]:
    """The steps of all fits from a job on, by the descriptions of their jobs, in order."""
    store = spark.sparkContext._jsc.sc().statusStore()
    found: dict[str, Step] = {}
    for job in sorted(_listed(store.jobsList(None)), key=lambda job: int(job.jobId())):
        if job.jobId() < since or job.description().isEmpty() or not job.description().get().startswith("Ad-REM"):
            continue
        step = found.setdefault(job.description().get(), Step())
        stages = [store.lastStageAttempt(number) for number in _listed(job.stageIds())]
        run = [stage for stage in stages if stage.status().toString() == "COMPLETE"]
        shuffled = sum(stage.shuffleWriteBytes() for stage in run)
        is_pass = "RDDLossFunction" in job.name()
        step.jobs += 1
        step.stages += len(run)
        step.shuffled += shuffled
        step.passes += is_pass
        step.pass_stages += is_pass * len(run)
        step.pass_shuffled += is_pass * shuffled
    return found


def n_jobs(spark: Any) -> int:
    """The number of the next job."""
    numbers = [int(job.jobId()) for job in _listed(spark.sparkContext._jsc.sc().statusStore().jobsList(None))]
    return 1 + max(numbers, default=-1)


def _listed(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]


def make_text(spark: Any, n_rows: int, bits: int, n_partitions: int) -> Any:
    """Rows of hashed words, made where they are needed: the same whenever they are made."""
    from pyspark.ml.feature import HashingTF
    from pyspark.sql import functions as sf

    def chance(*of: Any) -> Any:
        return sf.shiftrightunsigned(sf.xxhash64("id", *of), 11) * sf.lit(2.0**-53)

    def word(place: Any) -> Any:
        plain = sf.concat(sf.lit("w"), (2**bits * sf.pow(chance(place, sf.lit("plain")), 3)).cast("int"))
        says = sf.when(chance(place, sf.lit("lie")) < 0.3, 1 - sf.col("truth")).otherwise(sf.col("truth"))
        where = sf.when(chance(place, sf.lit("where")) < 0.5, sf.col("domain")).otherwise(0)
        telling = sf.concat_ws("_", (200 * chance(place, sf.lit("which"))).cast("int"), says, where)
        return sf.when(place <= N_WORDS // 5, telling).otherwise(plain)

    rows = spark.range(0, n_rows, 1, n_partitions).select(
        "id",
        (sf.col("id") % 2).cast("double").alias("truth"),
        sf.when(sf.col("id") % 4 < 2, 0).otherwise(-1).alias("domain"),
    )
    rows = rows.withColumn("label", sf.when(sf.col("domain") >= 0, sf.col("truth")))
    rows = rows.withColumn("words", sf.transform(sf.sequence(sf.lit(1), sf.lit(N_WORDS)), word))
    return HashingTF(numFeatures=2**bits, inputCol="words", outputCol="features").transform(rows).drop("words")


def start(memory: str) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.log.level": "ERROR",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.shuffle.compress": "false",  # else the bytes would tell how many entries of a gradient are zero
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.retainedJobs": "100000",
        "spark.ui.retainedStages": "100000",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def peak_memory(spark: Any) -> float:
    """The most gigabytes that the JVM has held."""
    status = Path(f"/proc/{spark._jvm.java.lang.ProcessHandle.current().pid()}/status").read_text(encoding="utf-8")
    [peak] = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return float(peak) / 2**20


def accuracy(labelled: Any) -> float:
    """Share of the target rows whose label is right."""
    from pyspark.sql import functions as sf

    right = (sf.col("prediction") == sf.col("truth")).cast("double")
    return float(labelled.where("domain < 0").agg(sf.avg(right)).first()[0])


def grown(found: dict[str, Step]) -> list[str]:
    """Where an iteration asked for more than the first, the optimizer's passes left out, and in each of them."""
    own = [step for name, step in found.items() if "iteration" in name]
    asked: dict[str, list[float]] = {
        "stages": [step.stages - step.pass_stages for step in own],
        "stages of a pass": [step.pass_stages / step.passes for step in own],
        "shuffled bytes": [step.shuffled - step.pass_shuffled for step in own],
        "shuffled bytes of a pass": [step.pass_shuffled / step.passes for step in own],
    }
    return [f"{name}: {counts}" for name, counts in asked.items() if max(counts) > 1.05 * counts[0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--bits", type=int, default=20, help="2 to the power of this many features")
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--memory", default="6g", help="of the JVM, driver and executor in one")
    parser.add_argument("--partitions", type=int, default=2)
    arguments = parser.parse_args()
    from adrem.spark import AdREM

    spark = start(arguments.memory)
    print(f"Spark {spark.version}, Python {platform.python_version()}, local[2], {arguments.memory}")
    text = make_text(spark, arguments.rows, arguments.bits, arguments.partitions)
    begin = perf_counter()
    model = AdREM(C=C, nEstimators=1, nIter=arguments.iterations).fit(text)
    fitted = perf_counter()
    score = accuracy(model.transform(text))
    print(f"{arguments.rows} rows, 2^{arguments.bits} features: fit {fitted - begin:.0f} s", end=", ")
    print(f"label {perf_counter() - fitted:.0f} s, peak memory of the JVM {peak_memory(spark):.1f} GB")
    print(f"accuracy on the target {100 * score:.1f} %")
    found = steps(spark)
    print(f"{'':32} {'jobs':>5} {'stages':>7} {'passes':>7} {'shuffled bytes':>15} {'of passes':>10}")
    for name, step in found.items():
        counts = f"{step.jobs:5} {step.stages:7} {step.passes:7} {step.shuffled:15} {step.pass_shuffled:10}"
        print(f"{name:32} {counts}")
    spark.stop()
    if grown(found):
        raise SystemExit(f"An iteration asked for more than the first: {grown(found)}")
    print("No iteration asked for more than the first, but for passes of the optimizer.")


if __name__ == "__main__":
    main()
