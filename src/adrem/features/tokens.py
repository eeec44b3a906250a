"""Tokenizers from files that may be hostile: only parts that are known to take time in proportion to the text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adrem.exceptions import DamagedDataError, MissingImportError
from adrem.files.labelled_rows import guarded

MAX_PARTS = 50
WORD_LENGTH = 100  # longer words are unknown: to cut one into pieces takes the square of its length
# How much longer all replacements together may make a text.
MAX_GROWTH = 64.0
STEPS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
MODELS = {"WordPiece", "BPE", "Unigram", "WordLevel"}
# Regular expressions may take a time that is exponential in the text: only these are run. They are those of GPT-2,
# Llama 3, CLIP and SentencePiece.
PATTERNS = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    r" {2,}",
    r"\s+",
}


def read_tokenizer(path: Path) -> Any:
    """Read a tokenizer, without the lengths that the file sets."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingImportError("Text encoders need tokenizers: pip install 'adrem[text]'.") from error
    described = guarded(str(path), "a tokenizer", lambda: json.loads(path.read_bytes()))
    if not isinstance(described, dict) or not isinstance(described.get("model"), dict):
        raise DamagedDataError(f"{path} holds no tokenizer: get it again.")
    _check(described, str(path))
    described["truncation"] = described["padding"] = None
    if "max_input_chars_per_word" in described["model"]:
        described["model"]["max_input_chars_per_word"] = WORD_LENGTH
    return guarded(str(path), "a tokenizer", lambda: Tokenizer.from_str(json.dumps(described)))


def read_config(path: Path) -> dict[str, Any]:
    """Read the settings of a network."""
    config = guarded(str(path), "settings", lambda: json.loads(path.read_bytes()))
    if not isinstance(config, dict):
        raise DamagedDataError(f"{path} holds no settings: get it again.")
    return config


def _check(described: dict[str, Any], name: str) -> None:
    """Refuse what may take more time or memory than in proportion to the text."""
    if described["model"].get("type", "WordPiece") not in MODELS:
        raise DamagedDataError(f"{name} has a model of an unknown type: use another tokenizer.")
    parts = [part for step in STEPS for part in _parts(described.get(step))]
    if len(parts) > MAX_PARTS:
        raise DamagedDataError(f"{name} has {len(parts)} steps, and may have {MAX_PARTS}: it is not used.")
    growth = 1.0
    for part in parts:
        pattern = part.get("pattern")
        expression = pattern.get("Regex") if isinstance(pattern, dict) else None
        if expression is not None and expression not in PATTERNS:
            raise DamagedDataError(
                f"{name} has the regular expression {str(expression)[:60]!r}, which may take forever: it is not used. "
                "Use a tokenizer without one."
            )
        growth *= _growth(part, pattern)
    if growth > MAX_GROWTH:
        raise DamagedDataError(f"{name} may make a text {growth:.0f} times longer: it is not used.")


def _growth(part: dict[str, Any], pattern: Any) -> float:
    """Return by how much a step may make a text longer."""
    if part.get("type") == "Replace":
        replaced = pattern.get("String", " ") if isinstance(pattern, dict) else " "
        return max(1.0, len(str(part.get("content", ""))) / max(1, len(str(replaced))))
    return float(max(1, len(str(part.get("prepend", "")))))


def _parts(step: Any) -> Iterator[dict[str, Any]]:
    """Yield the parts of a step at any depth."""
    if isinstance(step, dict):
        if "type" in step:
            yield step
        for value in step.values():
            yield from _parts(value)
    elif isinstance(step, list):
        for value in step:
            yield from _parts(value)
