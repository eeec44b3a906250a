"""Compare AdREM(n_estimators=101) in one thread, in two, and on a Dask cluster of two workers: time and bytes sent.

The cluster is on this machine, so it can't be faster than the threads: the script measures its overhead. Wall-clock
time depends on the load of the machine, CPU time (summed over all processes) hardly. For each worker the bytes received
and the peak memory are compared with the size of the rows.

    python benchmarks/cluster.py
    python benchmarks/cluster.py --data amazon-400 --pair K-D
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from peak_memory import begin_peak, peak

from adrem import AdREM
from adrem.datasets import DomainPair, load


def count_arrivals() -> None:
    """On a worker: count from now on the bytes that it is sent, whoever sends them."""
    from distributed.comm import tcp

    unpack = getattr(tcp, "unpack_uncounted", tcp.from_frames)

    async def counted(frames: Any, *args: Any, **kwargs: Any) -> Any:
        tcp.n_arrived += sum(memoryview(frame).nbytes for frame in frames)
        return await unpack(frames, *args, **kwargs)

    tcp.n_arrived, tcp.unpack_uncounted, tcp.from_frames = 0, unpack, counted


def arrivals() -> int:
    """On a worker: the bytes that it was sent."""
    from distributed.comm import tcp

    return int(tcp.n_arrived)


def bytes_of(rows: Any) -> int:
    parts = (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows,)
    return sum(part.nbytes for part in parts)


def make_pair(n_rows: int, n_features: int) -> DomainPair:
    """Four overlapping classes whose means move between the domains."""
    rng = np.random.default_rng(0)
    y = np.arange(2 * n_rows) % 4
    X = rng.standard_normal((4, n_features))[y] * 0.3 + rng.standard_normal((2 * n_rows, n_features))
    X[n_rows:] += 0.2 * rng.standard_normal(n_features)
    return DomainPair(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def timed(what: str, fit: Callable[[], AdREM], repeats: int, used: Callable[[], float] = process_time) -> AdREM:
    """Print medians of the seconds by the clock, and of those that processors were used; gives the last model."""
    clock, processors = [], []
    for _ in range(repeats):
        begin, before = perf_counter(), used()
        model = fit()
        clock.append(perf_counter() - begin)
        processors.append(used() - before)
    print(f"{what:<26}{median(clock):8.2f} s by the clock{median(processors):8.2f} s of processors")
    return model


def main() -> None:
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a data set, in place of a made table")
    parser.add_argument("--pair", default="K-D")
    parser.add_argument("--rows", type=int, default=500, help="rows of each domain of the made table")
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--members", type=int, default=101)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.data is None:
        pair = make_pair(arguments.rows, arguments.features)
    else:
        pair = load(arguments.data).pair(*arguments.pair.split("-"))

    def fit(n_jobs: int | None, data: DomainPair = pair) -> AdREM:
        model = AdREM(C=0.01, n_estimators=arguments.members, random_state=0, n_jobs=n_jobs)
        return model.fit(data.X_source, data.y_source, X_target=data.X_target)

    fit(1)  # compiles
    n_bytes = bytes_of(pair.X_source) + bytes_of(pair.X_target)
    print(
        f"{pair.X_source.shape} and {pair.X_target.shape}, {n_bytes / 1e6:.1f} MB of rows, {arguments.members} members"
    )
    reference = timed("one thread", lambda: fit(1), arguments.repeats)
    timed("two threads", lambda: fit(2), arguments.repeats)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):

        def used() -> float:
            return process_time() + float(sum(client.run(process_time).values()))

        few = np.arange(50)
        fit(
            None, DomainPair(pair.X_source[few], pair.y_source[few], pair.X_target[few], pair.y_target[few])
        )  # loads it
        client.run(count_arrivals)
        before = client.run(begin_peak)
        model = timed("two workers of a cluster", lambda: fit(None), arguments.repeats, used)
        sent = [n / arguments.repeats for n in client.run(arrivals).values()]
        taken = [n - before[worker] for worker, n in client.run(peak).items()]
    print(f"bytes to a worker for a fit: {', '.join(f'{n / 1e6:.1f} MB, {n / n_bytes:.2f} of the rows' for n in sent)}")
    print(f"memory that a worker took: {', '.join(f'{n / 1e6:.0f} MB' for n in taken)}")
    print(f"the same model: {np.array_equal(model.coef_, reference.coef_)}")


if __name__ == "__main__":
    main()
