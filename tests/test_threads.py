from __future__ import annotations

from contextlib import ExitStack

from threadpoolctl import threadpool_info, threadpool_limits

from adrem._threads import one_blas_thread


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_the_limit_is_lifted_by_the_last_of_overlapping_fits() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = ExitStack(), ExitStack()
        first.enter_context(one_blas_thread())
        second.enter_context(one_blas_thread())
        first.close()
        assert blas_threads() == {1}
        second.close()
        assert blas_threads() == before
