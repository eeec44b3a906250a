"""Malformed input gives a correct result or a clear error: a sample of the cases that `make torture` runs in full."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from torture.inputs import MAKERS, SEPARATOR, WAYS, outcome_of
from torture.outcomes import GOOD
from torture.tables import CONTENTS, DOMAINS, FORMS, LABELS, WEIGHTS, UnfitError

pytestmark = pytest.mark.thorough

ways = st.sampled_from(sorted(WAYS))
contents, forms = st.sampled_from(sorted(CONTENTS)), st.sampled_from(sorted(FORMS))
cases = st.one_of(
    st.tuples(st.just("table"), ways, forms, contents),
    st.tuples(st.just("new rows"), ways, forms, contents),
    st.tuples(st.just("target"), ways, forms),
    st.tuples(st.just("labels"), ways, st.sampled_from(sorted(LABELS))),
    st.tuples(st.just("weights"), ways, st.sampled_from(sorted(WEIGHTS))),
    st.tuples(st.just("domains"), ways, st.sampled_from(sorted(DOMAINS))),
)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much])
@given(cases)
def test_malformed_input_gives_result_or_error(case: tuple[str, ...]) -> None:
    kind, _, *what = case
    try:
        MAKERS[kind](*what)
    except (UnfitError, ImportError, ValueError, TypeError):
        assume(False)  # this combination can't be built
    assert outcome_of(SEPARATOR.join(case)) in GOOD
