"""From two tables to labels in one call, as the command line does it."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adrem.columns.bundle import Bundle, save_bundle
from adrem.columns.labelling import Labels, adapt_pair, label_pair, label_rows, make_rows
from adrem.columns.pair import Pair, make_pair
from adrem.columns.photos import CLASS, is_photos, read_photos
from adrem.columns.reading import FileTable, read_file
from adrem.diagnostics import Verdict
from adrem.diagnostics.diagnosis import Examination
from adrem.exceptions import InvalidTypeError

if TYPE_CHECKING:
    from adrem.features.encoder import Encoder


@dataclass(frozen=True)
class AdaptedTables:
    """A model of two tables, and the labels of the second.

    Parameters
    ----------
    labels : Labels
        The ``label``, ``confidence`` and ``source_label`` of each row of the target, as arrays.
    verdict : Verdict
        Whether to use the adapted labels. ``labels`` are those of the source alone if they seem better.
    pair : Pair
        The rows of numbers, and in ``pair.notes`` how the columns were used.
    bundle : Bundle
        The model with all that is needed to label another table.
    examination : Examination
        The comparison with the classifier of the source.
    """

    labels: Labels
    verdict: Verdict
    pair: Pair
    bundle: Bundle
    examination: Examination

    def predict(self, table: Any) -> Labels:
        """Label another table of the target domain.

        Parameters
        ----------
        table : path-like, frame or FileTable
            The table; for a model of images, a folder or an image.

        Returns
        -------
        Labels
            As for the target.
        """
        recipe = self.bundle.recipe
        read = _as_table(table, "target", None if recipe is None else recipe.encoder_of_images)
        return label_rows(self.bundle, make_rows(self.bundle, read)[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, to be used by ``adrem predict``.

        Parameters
        ----------
        path : path-like
            The file.
        """
        save_bundle(self.bundle, path)


def adapt_tables(
    source: Any,
    target: Any,
    *,
    label: str | None = None,
    target_label: str | None = None,
    text: Collection[str] = (),
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    left_out: Collection[str] = (),
    missing: Collection[str] | None = None,
    encoder: Encoder | None = None,
    model: Any = None,
) -> AdaptedTables:
    """Label a table, or a folder of images, from another one that has labels.

    Parameters
    ----------
    source, target : path-like, polars or pandas DataFrame, or FileTable
        A file with columns, or a folder of images; in the source, the subfolders are the classes.
    label : str, default=None
        The column of the source with the labels; not for folders.
    target_label : str, default=None
        The column of the target with its labels, only for scoring.
    text, numeric, categorical : collection of str, default=()
        Columns to treat as text, as numbers, or as categories.
    left_out : collection of str, default=()
        Columns to ignore.
    missing : collection of str or None, default=None
        Values that mark a missing value, as for `make_pair`.
    encoder : TextEncoder or ImageEncoder, default=None
        What turns texts or images into features. Without one, texts are counts of words, and images are encoded by
        ``ImageEncoder()``.
    model : estimator, default=None
        A model of the package, by default ``Committee(random_state=0)``.

    Returns
    -------
    AdaptedTables
        The labels, the verdict, and the model.

    See Also
    --------
    make_pair : The rows of numbers alone, for models of your own.

    Examples
    --------
    >>> import polars as pl
    >>> from adrem import AdREM
    >>> from adrem.columns import adapt_tables
    >>> books = pl.DataFrame({"said": ["a gripping plot", "dull", "a good plot", "dull"], "liked": [1, 0, 1, 0]})
    >>> kitchen = pl.DataFrame({"said": ["a good sharp knife", "dull and dear"]})
    >>> model = AdREM(C=1.0, n_estimators=3, random_state=0)
    >>> adapted = adapt_tables(books, kitchen, label="liked", text=["said"], model=model)
    >>> adapted.labels.label.tolist(), adapted.predict(pl.DataFrame({"said": ["a good knife"]})).label.tolist()
    ([1, 0], [1])
    """
    encoder = _default_encoder(source) if encoder is None else encoder
    tables = _as_table(source, "source", encoder), _as_table(target, "target", encoder)
    pair = make_pair(
        *tables,
        label=CLASS if label is None and tables[0].images else label,
        target_label=target_label,
        text=text,
        numeric=numeric,
        categorical=categorical,
        left_out=left_out,
        missing=missing,
        encoder=encoder,
    )
    bundle, examined = adapt_pair(pair, _default_model() if model is None else model, _about(tables, label))
    return AdaptedTables(label_pair(bundle, pair, examined), examined.verdict, pair, bundle, examined)


def _default_model() -> Any:
    from adrem.committee import Committee

    return Committee(random_state=0)


def _default_encoder(source: Any) -> Encoder | None:
    """Return the encoder of a folder of images, None for other tables."""
    from adrem.features import ImageEncoder

    is_path = isinstance(source, (str, os.PathLike))
    return ImageEncoder() if is_path and is_photos(os.fspath(source)) else None


def _as_table(given: Any, name: str, encoder: Encoder | None) -> FileTable:
    """Return a table that is given as a file, a folder or a frame."""
    import polars as pl

    if isinstance(given, FileTable):
        return given
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        return read_photos(path, encoder) if encoder is not None and is_photos(path) else read_file(path)
    if isinstance(given, pl.DataFrame):
        return FileTable(name, "", frame=given)
    if not hasattr(given, "columns"):
        raise InvalidTypeError(f"The {name} is {type(given).__name__}: pass a file, a folder of images, or a frame.")
    columns = {str(column): given[column].astype(object).where(given[column].notna(), None) for column in given.columns}
    frame = pl.DataFrame({column: pl.Series(column, own.tolist(), strict=False) for column, own in columns.items()})
    return FileTable(name, "", frame=frame)


def _about(tables: tuple[FileTable, FileTable], label: str | None) -> dict[str, Any]:
    """Return the origin of a model, as the command line keeps it."""
    sides = zip(("source", "target"), tables, strict=True)
    found = {side: {"name": own.name, "sha256": own.checksum, "rows": own.n_rows} for side, own in sides}
    return {"label": label, **found}
