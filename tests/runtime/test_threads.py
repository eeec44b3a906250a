from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from adrem import AdREM
from adrem.datasets import load_digits_shift
from adrem.runtime.threads import one_blas_thread


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_last_overlapping_fit_restores_blas_threads() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = ExitStack(), ExitStack()
        first.enter_context(one_blas_thread())
        second.enter_context(one_blas_thread())
        first.close()
        assert blas_threads() == {1}
        second.close()
        assert blas_threads() == before


@pytest.mark.parametrize("held", [False, True])
def test_blas_limit_is_shared_between_threads(held: bool) -> None:
    def inside(enter: ExitStack) -> set[int]:
        enter.enter_context(one_blas_thread())
        return blas_threads()

    with ExitStack() as outside, ThreadPoolExecutor(2) as threads:
        if held:
            outside.enter_context(threadpool_limits(2, user_api="blas"))
        before = blas_threads()
        first, second = ExitStack(), ExitStack()
        assert threads.submit(inside, first).result() == {1}
        assert inside(second) == {1}
        first.close()
        assert blas_threads() == {1}
        threads.submit(second.close).result()
        assert blas_threads() == before


def test_model_is_independent_of_blas_threads() -> None:
    X_source, y_source, X_target, _ = load_digits_shift()
    found = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads, user_api="blas"):
            model = AdREM(C=0.1, n_iter=2, n_estimators=2, random_state=0)
            model.fit(X_source, y_source, X_target=X_target)
            found.append((model.coef_, model.decision_function(np.tile(X_target, (2, 1)))))
    for coef, scores in found[1:]:
        np.testing.assert_array_equal(coef, found[0][0])
        np.testing.assert_array_equal(scores, found[0][1])
