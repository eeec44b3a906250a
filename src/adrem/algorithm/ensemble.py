"""Algorithm 2 of the paper before its vote: groups of members in threads, in processes or on a cluster.

A member depends on its seed alone, not on where it is trained or in which group.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from adrem.algorithm.em import EMOptions, randomized_em
from adrem.algorithm.recorder import Member
from adrem.algorithm.task import Task
from adrem.runtime.cluster import Calls, CancellationCheck, cluster_behind
from adrem.runtime.progress import Ticker
from adrem.runtime.threads import one_blas_thread

if TYPE_CHECKING:  # numba, behind the machines, is loaded by the first fit
    from adrem.machines import Solution

# Groups per thread of a cluster: several, so that a lost worker costs little and no thread waits long at the end.
GROUPS_PER_THREAD = 4
# A group has at least this many one-vs-rest problems if all threads have work: small groups are less efficient.
MIN_PROBLEMS = 16

Seeds = list[np.random.SeedSequence]


class Group(NamedTuple):
    """Members that are trained together: the position of the group, and their seeds."""

    place: int
    seeds: Seeds


@dataclass(frozen=True)
class Ensemble:
    """What the members share."""

    task: Task
    source: Solution
    options: EMOptions
    max_group: int | None = None

    @property
    def group_size(self) -> int:
        """The largest number of members that are trained together."""
        usual: int = self.task.machine.group_size
        return usual if self.max_group is None else min(usual, self.max_group)

    def in_halves(self) -> Ensemble:
        """The same with half as many members in a group."""
        return replace(self, max_group=-(-self.group_size // 2))

    def members(self, seeds: Seeds, n_jobs: int | None, ticker: Ticker) -> list[Member]:
        """Train a member for each seed, where joblib's configuration says, by default in threads."""
        backend, _ = get_active_backend(prefer="threads")
        client = cluster_behind(backend) if self.task.machine.travels else None
        if client is not None:
            found = self._on_cluster(backend, client, seeds, n_jobs, ticker)
        elif getattr(backend, "supports_sharedmem", False) or not self.task.machine.travels:
            found = self._in_threads(seeds, n_jobs, ticker)
        else:
            found = self._in_processes(backend, seeds, n_jobs, ticker)
        return [member for run in found for member in run]

    def train(self, group: Group, ticker: Ticker | None = None) -> list[Member]:
        """Train the members of a group."""
        with one_blas_thread():
            rngs = [np.random.default_rng(seed) for seed in group.seeds]
            return randomized_em(self.task, self.source, rngs, self.options, ticker=ticker)

    def _groups(self, seeds: Seeds, n_at_least: int) -> list[Group]:
        n_groups = max(-(-len(seeds) // self.group_size), min(n_at_least, len(seeds)))
        parts = np.array_split(np.arange(len(seeds)), n_groups)
        return [Group(place, [seeds[m] for m in part]) for place, part in enumerate(parts)]

    def _in_threads(self, seeds: Seeds, n_jobs: int | None, ticker: Ticker) -> list[list[Member]]:
        n_jobs = self.task.machine.jobs(effective_n_jobs(n_jobs))
        if n_jobs == 1:  # joblib would keep the machine, and the memory of a GPU, for a while
            return [self.train(group, ticker) for group in self._groups(seeds, 1)]
        with ThreadPoolExecutor(n_jobs) as pool:
            calls = [pool.submit(self.train, group, ticker) for group in self._groups(seeds, n_jobs)]
            try:
                return [call.result() for call in calls]
            except BaseException:
                # The end of the context waits for all threads: Python can't exit while one of them is in compiled code.
                ticker.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _in_processes(self, backend: Any, seeds: Seeds, n_jobs: int | None, ticker: Ticker) -> list[list[Member]]:
        n_jobs = effective_n_jobs(n_jobs)
        form = "generator" if backend.supports_return_generator else "list"
        runs = Parallel(n_jobs=n_jobs, return_as=form)(
            delayed(self.train)(group) for group in self._groups(seeds, n_jobs)
        )
        return [self._count(run, ticker) for run in runs]

    def _on_cluster(
        self, backend: Any, client: Any, seeds: Seeds, n_jobs: int | None, ticker: Ticker
    ) -> list[list[Member]]:
        n_threads = effective_n_jobs(n_jobs)
        n_worthwhile = len(seeds) * self.task.machine.n_problems // MIN_PROBLEMS
        groups = self._groups(seeds, max(n_threads, min(GROUPS_PER_THREAD * n_threads, n_worthwhile)))
        found: dict[int, list[Member]] = {}
        # A fit that runs on a worker itself frees its place there while it waits.
        with backend.retrieval_context(), Calls(client, train_there, self) as calls:
            for group in groups:
                calls.start(group)
            for group, outcome in calls.ended():
                if isinstance(outcome, Exception):
                    raise outcome
                found[group.place] = self._count(outcome, ticker)
        return [found[group.place] for group in groups]

    def _count(self, members: list[Member], ticker: Ticker) -> list[Member]:
        """Count the steps of members that were trained in another process."""
        ticker(sum(min(len(member.history) - 1, self.options.n_iter) for member in members))
        return members


def train_there(ensemble: Ensemble, group: Group) -> list[Member]:
    """Train a group on a worker of a cluster."""
    return ensemble.train(group, CancellationCheck())


def n_jobs_here(n_jobs: int | None) -> int:
    """Return how many groups are trained at a time in the memory of this machine."""
    backend, _ = get_active_backend(prefer="threads")
    return 1 if cluster_behind(backend) is not None else int(effective_n_jobs(n_jobs))
