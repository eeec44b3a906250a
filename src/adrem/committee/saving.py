"""Seats as plain values and arrays, and back: what a model file holds of a committee."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.committee.given import GivenVoter, with_names
from adrem.committee.seats import Seat
from adrem.committee.views import View
from adrem.committee.voters import VOTERS, Voter
from adrem.exceptions import InvalidDataError, InvalidTypeError
from adrem.machines.trees import POSITIONS, Trees, are_trees

Arrays = dict[str, NDArray[Any]]
VIEW_ARRAYS = ("shift", "factor", "center")
# The lengths of the arrays of each form of voter: -1 and -2 are any, but the same within a voter.
SHAPES: dict[str, dict[str, tuple[Any, ...]]] = {
    "linear": {"coef": (-1, "problems", "features"), "intercept": (-1, "problems")},
    "rbf": {
        "coef": (-1, "problems", -2), "intercept": (-1, "problems"), "vectors": (-2, "features"), "gamma": (1,),
    },
    "discriminant": {"directions": (-1, "features", -2), "center": (-1, -2), "means": (-1, "classes", -2)},
    "logistic": {"coef": ("problems", "features"), "intercept": ("problems",)},
    "trees": {
        "feature": (-1,), "threshold": (-1,), "left": (-1,), "right": (-1,), "value": (-1,), "roots": (-2,),
        "baseline": ("problems",),
    },
}  # fmt: skip
TOLERANCE = 1e-9


def names_in(kinds: Any) -> Any:
    """Return the parameter `kinds` with names in place of estimators."""
    return kinds if isinstance(kinds, str) else [name for name, _ in with_names(kinds)]


def check_voters(seats: list[Seat]) -> None:
    """Refuse seats of estimators of the caller, which are no plain arrays."""
    given = [seat.name for seat in seats if isinstance(seat.voter, GivenVoter)]
    if given:
        raise InvalidTypeError(
            f"A Committee can't be saved with the classifier(s) {', '.join(map(repr, given))} among its kinds: leave "
            "them out, or set distill=True, which labels rows by one linear classifier."
        )


def pack_seats(seats: list[Seat]) -> tuple[list[dict[str, Any]], Arrays]:
    """Return the seats as values that JSON can hold, and arrays by name."""
    values: list[dict[str, Any]] = []
    arrays: Arrays = {}
    for k, seat in enumerate(seats):
        view = {f"view_{name}": getattr(seat.view, name) for name in VIEW_ARRAYS}
        view = {name: array for name, array in view.items() if array is not None}
        arrays |= {f"{k}_{name}": array for name, array in {**view, **seat.voter.arrays()}.items()}
        flags = {"root": seat.view.root, "unit": seat.view.unit, "view": sorted(view)}
        values.append({"name": seat.name, "form": seat.voter.form, "weight": seat.weight, **flags})
    return values, arrays


def restore_seats(values: Any, arrays: Arrays, n_classes: int, n_features: int) -> list[Seat]:
    """Return the seats that were read from a file; raise if anything does not fit."""
    lengths = {"classes": n_classes, "problems": 1 if n_classes == 2 else n_classes, "features": n_features}
    seats, used = [], set()
    for k, own in enumerate(values):
        prefix = f"{k}_"
        mine = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        used |= {prefix + name for name in mine}
        seats.append(_seat(own, mine, lengths))
    if used != set(arrays):
        raise InvalidDataError("There are arrays of no seat.")
    if seats and abs(sum(seat.weight for seat in seats) - 1.0) > TOLERANCE:
        raise InvalidDataError("The weights of the seats do not sum to one.")
    return seats


def _seat(values: dict[str, Any], arrays: Arrays, lengths: dict[str, int]) -> Seat:
    if sorted(values["view"]) != sorted(name for name in arrays if name.startswith("view_")):
        raise InvalidDataError("A view has other arrays.")
    view = {name: arrays.pop(f"view_{name}", None) for name in VIEW_ARRAYS}
    for array in view.values():
        if array is not None:
            _check(array, (lengths["features"],), lengths, {})
    own = View(root=bool(values["root"]), unit=bool(values["unit"]), **view)
    voter = _voter(str(values["form"]), arrays, lengths)
    weight = float(values["weight"])
    if not 0 < weight <= 1:
        raise InvalidDataError("The weight of a seat is not a share.")
    return Seat(str(values["name"]), own, voter, float("nan"), np.zeros((0, lengths["classes"])), weight=weight)


def _voter(form: str, arrays: Arrays, lengths: dict[str, int]) -> Voter:
    shapes = SHAPES[form]
    if set(arrays) != set(shapes):
        raise InvalidDataError("A voter has other arrays.")
    free: dict[int, int] = {}
    for name, shape in shapes.items():
        _check(arrays[name], shape, lengths, free, kind="i" if name in POSITIONS else "f")
    voter = VOTERS[form](**{field.name: arrays[field.name] for field in fields(VOTERS[form])})
    if isinstance(voter, Trees) and not are_trees(voter, lengths["features"]):
        raise InvalidDataError("The trees of a seat are not trees.")
    return voter


def _check(
    array: NDArray[Any], shape: tuple[Any, ...], lengths: dict[str, int], free: dict[int, int], kind: str = "f"
) -> None:
    """Raise unless an array holds finite numbers of a kind and has a shape."""
    wanted = [lengths[n] if isinstance(n, str) else n for n in shape]
    if array.ndim != len(wanted) or array.dtype.kind != kind or not array.size or not np.isfinite(array).all():
        raise InvalidDataError("An array of a seat does not hold finite numbers.")
    for n, length in zip(wanted, array.shape, strict=True):
        if length != (free.setdefault(n, length) if n < 0 else n):
            raise InvalidDataError("The arrays of a seat do not fit together.")
