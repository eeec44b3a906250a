"""Algorithm 2 of the paper, short of its vote: members in groups, spread over threads, processes or machines.

What becomes of a member depends on its seed alone, never on where it is trained or beside whom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from adrem._cluster import Calls, Leash, cluster_behind
from adrem._em import Member, Task, randomized_em
from adrem._progress import Ticker
from adrem._threads import one_blas_thread

if TYPE_CHECKING:  # numba, behind the machines, is loaded by the first fit
    from adrem.machines import Solution

# Groups for each thread of a cluster: so many that a worker that dies costs little, and no other waits long in the end.
GROUPS_A_THREAD = 4
# But of no fewer one-vs-rest problems than this, unless threads would have none: beside fewer others each costs more.
FEW_PROBLEMS = 16

Seeds = list[np.random.SeedSequence]


class Group(NamedTuple):
    """Members that are trained side by side: their place among all groups, and their seeds."""

    place: int
    seeds: Seeds


@dataclass(frozen=True)
class Ensemble:
    """All that the members share, and that makes members of seeds."""

    task: Task
    source: Solution
    n_iter: int
    sampling: str
    store_path: bool
    until_stable: bool
    n_refine: int
    most_at_once: int | None = None

    @property
    def group_size(self) -> int:
        """How many members are trained side by side, at most."""
        usual: int = self.task.machine.group_size
        return usual if self.most_at_once is None else min(usual, self.most_at_once)

    def in_halves(self) -> Ensemble:
        """The same with half as many members side by side."""
        return replace(self, most_at_once=-(-self.group_size // 2))

    def members(self, seeds: Seeds, n_jobs: int | None, ticker: Ticker) -> list[Member]:
        """A member for each seed, trained where joblib's configuration says, in threads where it says nothing."""
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
        """The members of a group."""
        with one_blas_thread():
            return randomized_em(
                self.task,
                self.source,
                [np.random.default_rng(seed) for seed in group.seeds],
                n_iter=self.n_iter,
                sampling=self.sampling,
                store_path=self.store_path,
                until_stable=self.until_stable,
                n_refine=self.n_refine,
                ticker=ticker,
            )

    def _groups(self, seeds: Seeds, n_at_least: int) -> list[Group]:
        n_groups = max(-(-len(seeds) // self.group_size), min(n_at_least, len(seeds)))
        parts = np.array_split(np.arange(len(seeds)), n_groups)
        return [Group(place, [seeds[m] for m in part]) for place, part in enumerate(parts)]

    def _in_threads(self, seeds: Seeds, n_jobs: int | None, ticker: Ticker) -> list[list[Member]]:
        n_jobs = self.task.machine.jobs(effective_n_jobs(n_jobs))
        if n_jobs == 1:  # joblib would keep the machine, and the memory of a device, for a while
            return [self.train(group, ticker) for group in self._groups(seeds, 1)]
        runs: list[list[Member]] = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self.train)(group, ticker) for group in self._groups(seeds, n_jobs)
        )
        return runs

    def _in_processes(self, backend: Any, seeds: Seeds, n_jobs: int | None, ticker: Ticker) -> list[list[Member]]:
        n_jobs = effective_n_jobs(n_jobs)
        form = "generator" if backend.supports_return_generator else "list"
        runs = Parallel(n_jobs=n_jobs, return_as=form)(
            delayed(self.train)(group) for group in self._groups(seeds, n_jobs)
        )
        return [self._tell(run, ticker) for run in runs]

    def _on_cluster(
        self, backend: Any, client: Any, seeds: Seeds, n_jobs: int | None, ticker: Ticker
    ) -> list[list[Member]]:
        n_threads = effective_n_jobs(n_jobs)
        n_worthwhile = len(seeds) * self.task.machine.n_problems // FEW_PROBLEMS
        groups = self._groups(seeds, max(n_threads, min(GROUPS_A_THREAD * n_threads, n_worthwhile)))
        found: dict[int, list[Member]] = {}
        # A fit that is a call of a worker itself makes room there while it waits.
        with backend.retrieval_context(), Calls(client, train_there, self) as calls:
            for group in groups:
                calls.start(group)
            for group, outcome in calls.ended():
                if isinstance(outcome, Exception):
                    raise outcome
                found[group.place] = self._tell(outcome, ticker)
        return [found[group.place] for group in groups]

    def _tell(self, members: list[Member], ticker: Ticker) -> list[Member]:
        """Count the steps of members that were trained out of hearing."""
        ticker(sum(min(len(member.history) - 1, self.n_iter) for member in members))
        return members


def train_there(ensemble: Ensemble, group: Group) -> list[Member]:
    """What a worker of a cluster does."""
    return ensemble.train(group, Leash())


def n_jobs_here(n_jobs: int | None) -> int:
    """How many members are trained at a time in the memory of this machine."""
    backend, _ = get_active_backend(prefer="threads")
    return 1 if cluster_behind(backend) is not None else int(effective_n_jobs(n_jobs))
