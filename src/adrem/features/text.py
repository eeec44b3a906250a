"""The encoder of texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from adrem.base.reading import is_missing
from adrem.exceptions import DamagedDataError, InvalidTypeError, ParameterError
from adrem.features.encoder import COMMON, Encoder
from adrem.features.onnx import open_session, run_session
from adrem.features.store import Entry
from adrem.features.tokens import read_config, read_tokenizer
from adrem.features.weights import CONFIG, TOKENIZER, Weights
from adrem.files.labelled_rows import guarded

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MAX_CHARACTERS = 1_000_000  # of a text; the rest is cut off
USUAL_TOKENS, LEAST_TOKENS = 256, 8
AT_A_TIME = 32  # texts that are kept together


@dataclass
class _Network:
    session: Any
    tokenizer: Any
    n_features: int
    n_tokens: int


class TextEncoder(Encoder):
    """Turn texts into features by a sentence encoder that runs with onnxruntime.

    The tokens of a text go through the network, the mean of its outputs over all tokens is divided by its length.

    Parameters
    ----------
    model : str or path-like, default="gte-small"
        A name (`adrem models list` prints those that are known), or a folder with ``model.onnx`` and
        ``tokenizer.json``. Names are looked up in ``ADREM_MODELS``, then in the cache folder.
    max_tokens : int or None, default=None
        The number of tokens of a text that go through the network at a time; None are 256, or as many as it takes.
    chunks : {"first", "mean"}, default="first"
        What becomes of longer texts: the rest is cut off, or it is encoded in parts, and the features are the mean over
        all tokens.
    pooling : {"mean", "first"}, default="mean"
        Whether the features are the mean over all tokens or the output at the first one, as some models need.
    batch_size : int, default=1
        Texts that go through the network at a time. On a processor one at a time is the fastest, and the features of a
        text do not depend on others.
    device : {"cpu", "cuda"}, default="cpu"
        Where the network runs; "cuda" needs onnxruntime-gpu.
    cache : path-like or False, default=None
        The folder in which features are kept by the content of the texts, by default one in the cache folder.
    verbose : int, default=0
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    checksum_ : str
        The checksum of the model's files.
    n_features_out_ : int
        The number of features.

    See Also
    --------
    ImageEncoder : The encoder of images.

    Examples
    --------
    >>> from adrem.features import TextEncoder
    >>> encoder = TextEncoder("gte-small", max_tokens=128)
    >>> features = encoder.fit_transform(["a gripping plot", "a sharp knife"])  # doctest: +SKIP
    >>> features.shape  # doctest: +SKIP
    (2, 384)
    """

    kind = "text"
    noun = "text"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COMMON,
        "max_tokens": [Interval(Integral, LEAST_TOKENS, None, closed="left"), None],
        "chunks": [StrOptions({"first", "mean"})],
        "pooling": [StrOptions({"mean", "first"})],
    }

    def __init__(
        self,
        model: Any = "gte-small",
        *,
        max_tokens: int | None = None,
        chunks: str = "first",
        pooling: str = "mean",
        batch_size: int = 1,
        device: str = "cpu",
        cache: Any = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.max_tokens = max_tokens
        self.chunks = chunks
        self.pooling = pooling
        self.batch_size = batch_size
        self.device = device
        self.cache = cache
        self.verbose = verbose

    def _check_items(self, X: Any) -> Sequence[Any]:
        """Return texts as a list; missing ones are empty."""
        if isinstance(X, (str, bytes)):
            raise InvalidTypeError("X is one text: pass a list of texts.")
        values = X.tolist() if hasattr(X, "tolist") else X.to_list() if hasattr(X, "to_list") else list(X)
        texts = ["" if is_missing(value) else value for value in map(_only, values)]
        for place, value in enumerate(texts):
            if not isinstance(value, str):
                raise InvalidTypeError(f"X[{place}] is {type(value).__name__}, and no text: pass one column of texts.")
        return texts

    def _settings(self) -> list[Any]:
        return [self.n_tokens, self.chunks, self.pooling, self.batch_size, MAX_CHARACTERS]

    def _open(self, weights: Weights) -> None:
        tokenizer = read_tokenizer(weights.files[TOKENIZER])
        n_tokens = self._length_for(weights)
        guarded(TOKENIZER, "a tokenizer", lambda: tokenizer.enable_truncation(n_tokens))
        session = open_session(weights.network, self.device)
        names = [own.name for own in session.get_inputs()]
        shape = session.get_outputs()[0].shape
        if not {*names} <= {*INPUTS} or "input_ids" not in names or not isinstance(shape[-1], int):
            raise DamagedDataError(
                f"{weights.network} takes {', '.join(names)}: a network for texts takes {', '.join(INPUTS)}, and gives "
                "features of a fixed number."
            )
        self._network = _Network(session, tokenizer, shape[-1], n_tokens)

    @property
    def n_tokens(self) -> int:
        """The number of tokens that go through the network at a time."""
        self.ensure_open()
        return int(self._network.n_tokens)

    def _length_for(self, weights: Weights) -> int:
        """Return the number of tokens at a time; refuse more than the network has positions."""
        most = read_config(weights.files[CONFIG]).get("max_position_embeddings") if CONFIG in weights.files else None
        most = most if isinstance(most, int) and most >= LEAST_TOKENS else USUAL_TOKENS
        if self.max_tokens is None:
            return min(most, USUAL_TOKENS)
        if self.max_tokens > most and CONFIG in weights.files:
            raise ParameterError(
                f"max_tokens is {self.max_tokens}, and {weights.name} takes {most} at most: longer texts are averaged "
                "over parts by chunks='mean'.",
                "max_tokens",
            )
        return self.max_tokens

    def _n_features(self) -> int:
        return self._network.n_features

    def _keys(self, items: Sequence[Any]) -> Iterable[bytes | str]:
        return (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in items)

    def _run(self, items: list[Any], keys: list[bytes]) -> Iterator[dict[bytes, Entry | str]]:
        order = sorted(range(len(items)), key=lambda place: len(items[place]))  # so that a batch has little padding
        size = max(AT_A_TIME, self.batch_size)
        for first in range(0, len(order), size):
            places = order[first : first + size]
            entries = self._encode_texts([items[place] for place in places])
            yield {keys[place]: entry for place, entry in zip(places, entries, strict=True)}

    def _encode_texts(self, texts: list[str]) -> list[Entry]:
        clean = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        wholes = self._network.tokenizer.encode_batch(clean)
        parts = [[whole, *(whole.overflowing if self.chunks == "mean" else [])] for whole in wholes]
        outputs = self._outputs([own for of_text in parts for own in of_text])
        entries = []
        for text, whole, of_text in zip(texts, wholes, parts, strict=True):
            vector = np.sum([len(own.ids) * next(outputs) for own in of_text], axis=0)
            length = float(np.linalg.norm(vector))  # none for a text without a token
            cut = len(text) > MAX_CHARACTERS or (self.chunks == "first" and bool(whole.overflowing))
            entries.append(Entry((vector / (length or 1.0)).astype(np.float32), cut))
        return entries

    def _outputs(self, parts: list[Any]) -> Iterator[NDArray[np.float64]]:
        """Yield the output of the network for each part."""
        for first in range(0, len(parts), self.batch_size):
            yield from self._run_network(parts[first : first + self.batch_size])

    def _run_network(self, parts: list[Any]) -> NDArray[np.float64]:
        n_tokens = [len(own.ids) for own in parts]
        ids = np.zeros((len(parts), max(1, *n_tokens)), np.int64)
        mask = np.zeros_like(ids)
        for row, own in enumerate(parts):
            ids[row, : n_tokens[row]], mask[row, : n_tokens[row]] = own.ids, 1
        session = self._network.session
        given = dict(zip(INPUTS, (ids, mask, np.zeros_like(ids)), strict=True))
        states = run_session(session, {own.name: given[own.name] for own in session.get_inputs()}, self.model_name)
        if states.ndim == 2:  # the network has averaged already
            return np.asarray(states, np.float64)
        if self.pooling == "first":
            return np.asarray(states[:, 0], np.float64)
        sums = (states * mask[:, :, None]).sum(axis=1, dtype=np.float64)
        return np.asarray(sums / np.maximum(mask.sum(axis=1), 1)[:, None])


def _only(value: Any) -> Any:
    """Return the text of a row with one column."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value
