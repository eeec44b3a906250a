"""Calls of a function on the workers of a Dask cluster: what all of them need travels once to each worker.

Joblib's own way there sends the rows along with every call, waits forever for a call whose workers all died, and lets
calls go on that nobody waits for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar

from adrem._progress import Ticker
from adrem.exceptions import ClusterError

# Times that what all calls need may be lost with the last worker that had it; Dask gives a call as many workers.
LOSSES = 3
# Seconds in which a worker has to be there, an old one or one that is started in its place.
WAIT = 30

Item = TypeVar("Item")


def cluster_behind(backend: Any) -> Any:
    """The client of the Dask cluster that a backend of joblib works with; none where it is another backend."""
    distributed = sys.modules.get("distributed")
    client = getattr(backend, "client", None)
    return client if distributed is not None and isinstance(client, distributed.Client) else None


class Calls(Generic[Item]):
    """Calls ``function(common, item)`` on the workers; a context, after which none of them goes on.

    A worker that dies costs its calls alone, and these are made again. `common` is not kept for later calls: after the
    context nothing of it is left on the workers.
    """

    def __init__(self, client: Any, function: Callable[[Any, Item], Any], common: Any) -> None:
        from distributed import as_completed

        from adrem import __version__

        self._client = client
        self._function = function
        self._common = common
        self._version = __version__
        self._shipments: list[Any] = []
        self._waiting: dict[Any, tuple[Item, int]] = {}
        self._ending = as_completed(loop=client.loop)

    def __enter__(self) -> Self:
        self._ship()
        return self

    def __exit__(self, *_: object) -> None:
        if self._client.status == "running":
            self._client.cancel([*self._waiting, self._shipments[-1]])
        self._waiting.clear()
        self._shipments.clear()

    def __len__(self) -> int:
        """Calls that have not ended."""
        return len(self._waiting)

    def start(self, item: Item) -> None:
        """Make the call for an item, on whichever worker has the time."""
        future = self._client.submit(call, self._function, self._version, self._shipments[-1], item, pure=False)
        self._waiting[future] = item, len(self._shipments)
        self._ending.add(future)

    def ended(self) -> Iterator[tuple[Item, Any]]:
        """Each item with what its call gave, or the exception that it raised, as they end; more may be started."""
        from distributed import CancelledError

        for future in self._ending:
            item, shipment = self._waiting.pop(future)
            try:
                outcome = future.result()
            except CancelledError:
                if shipment == len(self._shipments):
                    self._ship()
                self.start(item)
                continue
            except Exception as error:  # whatever it is, it belongs to this item
                outcome = error
            yield item, outcome

    def _ship(self) -> None:
        """Send what all calls need to every worker, from one to the next."""
        if len(self._shipments) > LOSSES:
            raise ClusterError(
                f"All workers of the cluster died, {len(self._shipments)} times, perhaps for lack of memory: "
                "give them more of it, or fewer threads each."
            )
        try:
            shipment = self._client.scatter(self._common, broadcast=True, hash=False, timeout=WAIT)
        except (OSError, TimeoutError) as error:
            raise ClusterError(f"No worker of the cluster can be reached: {error}. Start some.") from error
        self._shipments.append(shipment)


def call(function: Callable[[Any, Item], Any], version: str, common: Any, item: Item) -> Any:
    """What a worker does with a call. Another version of the package might give other results."""
    from adrem import __version__

    if version != __version__:
        raise ClusterError(
            f"A worker has adrem {__version__}, and {version} is needed there: install it on all workers."
        )
    return function(common, item)


class AbandonedError(RuntimeError):
    """Ends a call that nobody waits for any more, so nobody hears of it."""


class Leash(Ticker):
    """On a worker: ends a call that nobody waits for any more, after Ctrl-C or when who made it is gone."""

    def __init__(self) -> None:
        from distributed import get_worker

        super().__init__()
        self._worker = get_worker()
        self._key = self._worker.get_current_task()

    def check(self) -> None:
        task = self._worker.state.tasks.get(self._key)
        if task is None or task.state == "cancelled":
            raise AbandonedError
