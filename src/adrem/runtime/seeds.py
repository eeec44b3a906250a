"""Independent seeds from one `random_state`."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

RandomState = int | np.random.RandomState | None


def spawn_seeds(random_state: RandomState, n: int) -> list[np.random.SeedSequence]:
    """Return n independent child seeds. Without a seed they come from the system; numpy's global state is not used."""
    entropy = None if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
    return np.random.SeedSequence(entropy).spawn(n)


def integer_seed(random_state: RandomState) -> int:
    """Return the seed of the folds that choose C, as an integer."""
    return as_integer(spawn_seeds(random_state, 1)[0])


def as_integer(seed: np.random.SeedSequence) -> int:
    """Return a seed in the form that scikit-learn takes."""
    return int(seed.generate_state(1)[0])
