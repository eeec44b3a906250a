"""Ad-REM on Spark: an estimator and a model of `pyspark.ml`."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

from adrem.exceptions import MissingImportError, SparkError

if find_spec("pyspark") is None:
    raise MissingImportError('adrem.spark needs pyspark and a JDK 17: pip install "adrem[spark]", and install the JDK.')

from pyspark import SparkContext

if SparkContext._gateway is None and "JAVA_HOME" not in os.environ and shutil.which("java") is None:
    raise SparkError(
        'adrem.spark (pip install "adrem[spark]") found no Java: install a JDK 17, and put java on the PATH or set '
        "JAVA_HOME."
    )

from adrem.spark.estimator import AdREM
from adrem.spark.model import AdREMModel

__all__ = ["AdREM", "AdREMModel"]
