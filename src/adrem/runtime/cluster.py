"""Calls of a function on the workers of a Dask cluster; common data is sent once to each worker.

Joblib's Dask backend sends the rows with every call, waits forever if all workers died, and does not cancel calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any, Generic, Self, TypeVar

from adrem.exceptions import AbandonedError, ClusterError
from adrem.runtime.progress import Ticker

VERSION = version("adrem")
# How often the common data may be lost with all workers; Dask retries a call as often.
MAX_LOSSES = 3
TIMEOUT = 30  # seconds to wait for a worker

Item = TypeVar("Item")


def cluster_behind(backend: Any) -> Any:
    """Return the Dask client of a joblib backend; None if it is another backend."""
    distributed = sys.modules.get("distributed")
    client = getattr(backend, "client", None)
    return client if distributed is not None and isinstance(client, distributed.Client) else None


class Calls(Generic[Item]):
    """Calls of ``function(common, item)`` on the workers, as a context manager.

    The calls of a dead worker are repeated. At the end of the context, running calls are cancelled, and `common` is
    removed from the workers.
    """

    def __init__(self, client: Any, function: Callable[[Any, Item], Any], common: Any) -> None:
        from distributed import as_completed

        self._client = client
        self._function = function
        self._common = common
        self._version = VERSION
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
        """Return the number of running calls."""
        return len(self._waiting)

    def start(self, item: Item) -> None:
        """Submit the call for an item."""
        future = self._client.submit(call, self._function, self._version, self._shipments[-1], item, pure=False)
        self._waiting[future] = item, len(self._shipments)
        self._ending.add(future)

    def ended(self) -> Iterator[tuple[Item, Any]]:
        """Yield each item with the result or exception of its call, in the order of completion."""
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
            except Exception as error:  # returned with its item
                outcome = error
            yield item, outcome

    def _ship(self) -> None:
        """Send the common data to every worker."""
        if len(self._shipments) > MAX_LOSSES:
            raise ClusterError(
                f"All workers of the cluster died, {len(self._shipments)} times, perhaps for lack of memory: "
                "give them more memory, or fewer threads each."
            )
        try:
            shipment = self._client.scatter(self._common, broadcast=True, hash=False, timeout=TIMEOUT)
        except (OSError, TimeoutError) as error:
            raise ClusterError(f"No worker of the cluster can be reached: {error}. Start some.") from error
        self._shipments.append(shipment)


def call(function: Callable[[Any, Item], Any], wanted: str, common: Any, item: Item) -> Any:
    """Run a call on a worker, which must have the same version of the package."""
    if wanted != VERSION:
        raise ClusterError(f"A worker has adrem {VERSION}, but {wanted} is needed: install it on all workers.")
    return function(common, item)


class CancellationCheck(Ticker):
    """Ends a call on a worker when its client has cancelled it or is gone."""

    def __init__(self) -> None:
        from distributed import get_worker

        super().__init__()
        self._worker = get_worker()
        self._key = self._worker.get_current_task()

    def check(self) -> None:
        task = self._worker.state.tasks.get(self._key)
        if task is None or task.state == "cancelled":
            raise AbandonedError
