"""The methods of the package, each declared once: its name, its place in the benchmark, what a model file holds."""

from adrem.registry.methods import (
    COMMAND_LINE_METHODS,
    DECLARATIONS,
    DECLARED_METHODS,
    ESTIMATORS,
    Benchmark,
    Declaration,
    Estimator,
    find_estimator,
    import_class,
)
from adrem.registry.saved_attributes import ARRAYS, ITERATIVE, KNOWN_ARRAYS, KNOWN_VALUES, LINEAR, VALUES, Array, Saved

__all__ = [
    "ARRAYS",
    "COMMAND_LINE_METHODS",
    "DECLARATIONS",
    "DECLARED_METHODS",
    "ESTIMATORS",
    "ITERATIVE",
    "KNOWN_ARRAYS",
    "KNOWN_VALUES",
    "LINEAR",
    "VALUES",
    "Array",
    "Benchmark",
    "Declaration",
    "Estimator",
    "Saved",
    "find_estimator",
    "import_class",
]
