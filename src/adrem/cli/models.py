"""The model of ``adrem adapt``, from the options of the command line."""

from __future__ import annotations

from os import cpu_count
from typing import Any

import typer

from adrem.cli.parameters import MODEL_OPTIONS
from adrem.registry import COMMAND_LINE_METHODS, DECLARED_METHODS

PRIORS = ("uniform", "source", "estimate", "auto")
MOST_JOBS, JOBS_PER_CORE = 64, 4
REPLACED = {"auto": "committee"}


def make_model(method: str, options: dict[str, Any], *, seed: int, jobs: int | None) -> Any:
    """Return the estimator of a method; `options` has its parameters, None for those not given."""
    if method in REPLACED:
        raise typer.BadParameter(
            f"{method!r} was replaced by {REPLACED[method]!r}, the default: leave the option out.",
            param_hint="--method",
        )
    if method not in COMMAND_LINE_METHODS:
        raise typer.BadParameter(f"{method!r} is not one of {', '.join(COMMAND_LINE_METHODS)}.", param_hint="--method")
    check_jobs(jobs)
    params = {name: value for name, value in options.items() if value is not None}
    if "class_prior" in params:
        params["class_prior"] = _read_prior(params["class_prior"])
    declared = DECLARED_METHODS[method]
    model = declared.make()
    available = set(model.get_params()) - set(declared.params)
    for name in params:
        if name not in available:
            raise typer.BadParameter(
                f"The method {method} has no such option: leave it out, or use --method {_method_with(name)}.",
                param_hint=MODEL_OPTIONS[name],
            )
    _check_prior(method, params.get("class_prior"))
    if "unknown_label" in params and params.get("unknown") != "reject":
        raise typer.BadParameter("It needs --unknown reject.", param_hint="--unknown-label")
    running = {name: value for name, value in (("n_jobs", jobs), ("verbose", 1)) if name in available}
    model.set_params(random_state=seed, **running, **params)
    model.validate_params()
    return model


def check_jobs(jobs: int | None) -> None:
    """Raise an error for a number of jobs that would take the machine down, each of which has a thread or process."""
    if jobs == 0:
        raise typer.BadParameter("It must not be 0; -1 uses all cores.", param_hint="--jobs")
    most = max(MOST_JOBS, JOBS_PER_CORE * (cpu_count() or 1))
    if jobs is not None and jobs > most:
        raise typer.BadParameter(f"At most {most} are possible here; -1 uses all cores.", param_hint="--jobs")


def use_labels(model: Any, labels: Any) -> None:
    """Replace the labels that the parameters of a model have as text."""
    params = model.get_params()
    if isinstance(params.get("class_prior"), dict):
        model.set_params(class_prior=priors_by_label(model.class_prior, labels))
    if params.get("unknown") == "reject":
        model.set_params(unknown_label=unknown_by_label(model.unknown_label, labels))
    if params.get("protected_classes"):
        model.set_params(protected_classes=classes_by_label(model.protected_classes, labels))


def priors_by_label(shares: dict[str, float], labels: Any) -> dict[Any, float]:
    """Return class shares by label; on the command line, labels are given as text."""
    known = {str(label): label for label in dict.fromkeys(labels.tolist())}
    if set(known) != set(shares):
        raise typer.BadParameter(
            f"It names {', '.join(sorted(shares))}; the labels are {', '.join(sorted(known))}.", param_hint="--prior"
        )
    return {known[name]: share for name, share in shares.items()}


def classes_by_label(names: list[str], labels: Any) -> list[Any]:
    """Return classes; on the command line they are given as text."""
    known = {str(label): label for label in dict.fromkeys(labels.tolist())}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise typer.BadParameter(
            f"There is no label {unknown[0]}; the labels are {', '.join(sorted(known))}.", param_hint="--protected"
        )
    return [known[name] for name in names]


def unknown_by_label(name: str, labels: Any) -> Any:
    """Return the label of unknown rows; on the command line it is given as text."""
    if labels.dtype.kind not in "iuf":
        return name
    try:
        return int(name) if labels.dtype.kind in "iu" else float(name)
    except ValueError:
        raise typer.BadParameter(
            f"The labels are numbers, {name!r} is not: give another number.", param_hint="--unknown-label"
        ) from None


def _method_with(name: str) -> str:
    """Return a method that has a parameter."""
    return next(method for method in ("adrem", "committee") if name in DECLARED_METHODS[method].make().get_params())


def _check_prior(method: str, prior: Any) -> None:
    """Raise if a method does not know the name of class shares."""
    if method == "committee" and prior == "estimate":
        raise typer.BadParameter(
            "The committee estimates the shares by itself, and uses them if they explain how the files differ (auto, "
            "the default). To rely on an estimate, use --method adrem.",
            param_hint="--prior",
        )
    if method != "committee" and prior == "auto":
        raise typer.BadParameter(f"The method {method} does not know 'auto'; committee does.", param_hint="--prior")


def _read_prior(text: str) -> Any:
    """Return a name of `PRIORS`, or class shares by the labels as text."""
    if text in PRIORS:
        return text
    try:
        parts = dict(part.rsplit("=", 1) for part in text.split(","))
        shares = {name.strip(): float(share) for name, share in parts.items()}
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not one of {', '.join(PRIORS)}, nor shares such as a=0.8,b=0.2.", param_hint="--prior"
        ) from None
    if min(shares.values()) < 0 or abs(sum(shares.values()) - 1) > 1e-6:
        raise typer.BadParameter(
            f"The shares must be zero or more, and sum to one; they sum to {sum(shares.values()):g}.",
            param_hint="--prior",
        )
    return shares
