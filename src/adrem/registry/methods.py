"""The methods of the package, each declared once: its name, its place in the benchmark, what a model file holds.

A declaration also has the parameters of the estimator, and whether ``adrem adapt`` offers the method. Estimators are
named by strings, so that reading the table imports nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from adrem.exceptions import MissingImportError
from adrem.registry.saved_attributes import ITERATIVE, LINEAR, Saved


class Estimator(NamedTuple):
    """A class of the package by its import path, and what is saved of it (None: it can't be saved)."""

    path: str
    saved: Saved | None = Saved()

    @property
    def name(self) -> str:
        return self.path.partition(":")[2]

    def load(self) -> type[Any]:
        return import_class(self.path)


class Benchmark(NamedTuple):
    """The place of a method in the benchmark; the fields are those of `adrem.benchmark.Method`."""

    published: tuple[str, ...] = ()
    once: bool = True
    version: int = 1


class Declaration(NamedTuple):
    """A method: an estimator with fixed parameters, under a name."""

    name: str
    title: str
    estimator: Estimator
    params: Mapping[str, Any] = MappingProxyType({})
    benchmark: Benchmark | None = None
    on_command_line: bool = True

    def make(self, **params: Any) -> Any:
        return self.estimator.load()(**self.params, **params)


def import_class(path: str) -> type[Any]:
    """Import a class by a path such as ``package.module:Class``."""
    module, _, name = path.partition(":")
    found = getattr(importlib.import_module(module), name, None)
    if not isinstance(found, type):
        raise MissingImportError(f"The module {module} has no class {name}.")
    return found


def _with_similarities(name: str, title: str, estimator: Estimator, **params: Any) -> tuple[Declaration, Declaration]:
    """A method as its paper describes it, and as its authors' program computes it; both were published as one."""
    place = Benchmark((name.upper(),))
    params = {"form": "similarity", **params}
    return (
        Declaration(name, title, estimator, benchmark=place),
        Declaration(f"{name}-similarity", f"{title} on similarities", estimator, params, place, on_command_line=False),
    )


ADREM = Estimator(
    "adrem:AdREM",
    Saved(
        (*LINEAR, "vote_share_"),
        # class_prior_ is always there, but not in files of earlier versions.
        (
            "coef_path_",
            "intercept_path_",
            "class_prior_",
            "class_prior_interval_",
            "class_prior_check_",
            "sources_",
            "unknown_interval_",
        ),
        ("C_", "machine_", "history_"),
        ("termination_", "neighbors_", "missing_reasons_", "unknown_share_"),
    ),
)
COMMITTEE = Estimator(
    "adrem:Committee",
    Saved(
        (*LINEAR, "vote_share_", "agreement_", "row_agreement_", "member_agreement_"),
        ("class_prior_", "class_prior_check_", "home_accuracy_", "unknown_interval_"),
        ("C_", "history_", "kinds_", "left_out_", "temperature_", "by_domain_"),
        ("missing_reasons_", "unknown_share_"),
    ),
)
SOURCE = Estimator("adrem.baselines:SourceOnly")
SOURCE_CV = Estimator(
    "adrem.baselines:SourceOnlyCV",
    Saved(optional=("idf_",), values=("C_", "chosen_", "cv_accuracy_")),
)
SPL = Estimator(
    "adrem.baselines:SPL",
    Saved(
        (
            "classes_",
            "transduction_",
            "principal_axes_",
            "principal_offset_",
            "preserving_axes_",
            "projected_mean_",
            "class_prototypes_",
            "class_clusters_",
        ),
        values=(),
    ),
)
FLDA = Estimator("adrem.baselines:FLDA", Saved((*LINEAR, "dropout_")))
LOG_LOSS = {"loss": "log_loss"}

DECLARATIONS = (
    Declaration("committee", "Committee", COMMITTEE, {}, Benchmark(once=False)),
    Declaration(
        "committee-distilled",
        "Committee, distilled",
        COMMITTEE,
        {"distill": True},
        Benchmark(once=False),
        on_command_line=False,
    ),
    Declaration("adrem", "Ad-REM", ADREM),
    Declaration("source", "Source only", SOURCE),
    Declaration("source-cv", "Source only, chosen", SOURCE_CV, benchmark=Benchmark(once=False)),
    Declaration("source-svm", "Source SVM", SOURCE, {}, Benchmark(("NA", "Source"), once=False), on_command_line=False),
    Declaration("source-lr", "Source LR", SOURCE, LOG_LOSS, Benchmark(once=False), on_command_line=False),
    Declaration("adrem-svm", "Ad-REM SVM", ADREM, {}, Benchmark(("Ad-REM",), once=False), on_command_line=False),
    Declaration("adrem-lr", "Ad-REM LR", ADREM, LOG_LOSS, Benchmark(once=False), on_command_line=False),
    Declaration(
        "hard-em",
        "Hard EM, SVM",
        Estimator("adrem.baselines:HardEM", Saved(values=ITERATIVE)),
        benchmark=Benchmark(),
    ),
    Declaration(
        "soft-em",
        "Soft EM, LR, temperature 1/2",
        Estimator("adrem.baselines:SoftEM", Saved(values=ITERATIVE)),
        benchmark=Benchmark(version=2),
    ),
    *_with_similarities("coral", "CORAL", Estimator("adrem.baselines:CORAL")),
    *_with_similarities(
        "sa",
        "Subspace Alignment",
        Estimator("adrem.baselines:SubspaceAlignment", Saved(values=("C_", "n_components_"))),
        n_components=80,  # fixed in the authors' program, chosen in their paper
    ),
    *_with_similarities(
        "gfk", "Geodesic flow kernel", Estimator("adrem.baselines:GFK", Saved(values=("C_", "n_components_")))
    ),
    Declaration(
        "tca",
        "Transfer component analysis",
        Estimator("adrem.baselines:TCA", Saved(values=("C_", "n_components_"))),
        benchmark=Benchmark(("TCA",)),
    ),
    Declaration("flda-l", "Feature-level adaptation, logistic", FLDA, benchmark=Benchmark(("FLDA-L",))),
    Declaration("flda-q", "Feature-level adaptation, squared", FLDA, {"loss": "squared"}, Benchmark(("FLDA-Q",))),
    Declaration(
        "dasvm",
        "DASVM",
        Estimator("adrem.baselines:DASVM", Saved(values=ITERATIVE)),
        benchmark=Benchmark(("DASVM",), version=2),
    ),
    Declaration(
        "scl",
        "Structural correspondence learning",
        Estimator("adrem.baselines:SCL", Saved(optional=("pivots_",))),
        benchmark=Benchmark(("SCL",), version=2),
    ),
    Declaration(
        "iw",
        "Importance weighting",
        Estimator(
            "adrem.baselines:ImportanceWeighting", Saved((*LINEAR, "source_weight_"), values=("C_", "domain_C_"))
        ),
        benchmark=Benchmark(version=2),
    ),
    Declaration(
        "kmm",
        "Kernel mean matching",
        Estimator("adrem.baselines:KMM", Saved((*LINEAR, "source_weight_"))),
        benchmark=Benchmark(("KMM",), version=2),
    ),
    Declaration("spl", "Selective pseudo-labelling", SPL, benchmark=Benchmark()),
)
DECLARED_METHODS = {declaration.name: declaration for declaration in DECLARATIONS}
COMMAND_LINE_METHODS = tuple(name for name, declaration in DECLARED_METHODS.items() if declaration.on_command_line)
ESTIMATORS = {declaration.estimator.name: declaration.estimator for declaration in DECLARATIONS}


def find_estimator(model: type[Any]) -> Estimator | None:
    """Find the declared estimator of a class; a class of the same name from elsewhere is another one."""
    found = ESTIMATORS.get(model.__name__)
    return found if found is not None and found.load() is model else None
