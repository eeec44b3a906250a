"""Models as Spark keeps them, on any file system: metadata, and a folder for each classifier, written by MLlib.

Of an estimator there is nothing but metadata.
"""

from __future__ import annotations

from typing import Any

from pyspark.ml.classification import LinearSVCModel
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReader, MLWriter

from adrem.exceptions import UnreadableModelError

FORMAT = 1
ESTIMATOR, MODEL = "adrem.spark.AdREM", "adrem.spark.AdREMModel"


class AdREMReader(DefaultParamsReader):
    """Reads an estimator."""

    def load(self, path: str) -> Any:
        """Read an estimator, or say that it is something else."""
        about = DefaultParamsReader.loadMetadata(path, self.sparkSession.sparkContext)
        if about["class"] == MODEL:
            raise UnreadableModelError(
                f"{path} holds a model of adrem.spark.AdREM, not an estimator: use AdREMModel.load."
            )
        if about["class"] != ESTIMATOR:
            raise UnreadableModelError(f"{path} holds {about['class']}, not adrem.spark.AdREM: read it by that.")
        return super().load(path)


class AdREMModelWriter(MLWriter):
    """Writes a model."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def saveImpl(self, path: str) -> None:
        """Write the metadata, and then the classifiers."""
        about = {
            "adremFormat": FORMAT,
            "classes": self.model.classes,
            "nMembers": len(self.model.members),
            "nClassifiers": len(self.model.members[0]),
            "history": self.model.history,
        }
        DefaultParamsWriter.saveMetadata(self.model, path, self.sparkSession.sparkContext, extraMetadata=about)
        for m, own in enumerate(self.model.members):
            for p, classifier in enumerate(own):
                classifier.write().save(_place(path, m, p))


class AdREMModelReader(MLReader):
    """Reads a model."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> Any:
        """Read a model, or say why it can't be read."""
        context = self.sparkSession.sparkContext
        about = DefaultParamsReader.loadMetadata(path, context)
        _check(about, path)
        members = [
            [LinearSVCModel.load(_place(path, m, p)) for p in range(about["nClassifiers"])]
            for m in range(about["nMembers"])
        ]
        model = self.kind(about["classes"], members, about["history"])
        model._resetUid(about["uid"])
        DefaultParamsReader.getAndSetParams(model, about)
        return model


def _check(about: dict[str, Any], path: str) -> None:
    if about["class"] == ESTIMATOR:
        raise UnreadableModelError(f"{path} holds an estimator, not a model that it has fitted: use AdREM.load.")
    if about["class"] != MODEL:
        raise UnreadableModelError(f"{path} holds {about['class']}, not a model of adrem.spark.AdREM: read it by that.")
    found = about.get("adremFormat")
    if found != FORMAT:
        raise UnreadableModelError(
            f"{path} has format {found}, and this version of adrem reads format {FORMAT}: install a newer one."
        )


def _place(path: str, member: int, problem: int) -> str:
    return f"{path.rstrip('/')}/members/{member}/{problem}"
