"""Files of estimators and models: metadata, and for a model one folder for each classifier, written by MLlib."""

from __future__ import annotations

from typing import Any

from pyspark.ml.classification import LinearSVCModel
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReader, MLWriter

from adrem.exceptions import UnreadableModelError

FORMAT = 1
ESTIMATOR, MODEL = "adrem.spark.AdREM", "adrem.spark.AdREMModel"


class AdREMReader(DefaultParamsReader):
    """Reader of estimators."""

    def load(self, path: str) -> Any:
        """Read an estimator; raise an error if the path holds something else."""
        about = DefaultParamsReader.loadMetadata(path, self.sparkSession.sparkContext)
        if about["class"] == MODEL:
            raise UnreadableModelError(
                f"{path} holds a model of adrem.spark.AdREM, not an estimator: use AdREMModel.load."
            )
        if about["class"] != ESTIMATOR:
            raise UnreadableModelError(
                f"{path} holds {about['class']}, not adrem.spark.AdREM: load it with that class."
            )
        return super().load(path)


class AdREMModelWriter(MLWriter):
    """Writer of models."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def saveImpl(self, path: str) -> None:
        """Write the metadata and the classifiers."""
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
    """Reader of models."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> Any:
        """Read a model; raise an error if the path holds something else."""
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
        raise UnreadableModelError(f"{path} holds an estimator, not a fitted model: use AdREM.load.")
    if about["class"] != MODEL:
        raise UnreadableModelError(
            f"{path} holds {about['class']}, not a model of adrem.spark.AdREM: load it with that class."
        )
    found = about.get("adremFormat")
    if found != FORMAT:
        raise UnreadableModelError(
            f"{path} has format {found}, and this version of adrem reads format {FORMAT}: install a newer one."
        )


def _place(path: str, member: int, problem: int) -> str:
    return f"{path.rstrip('/')}/members/{member}/{problem}"
