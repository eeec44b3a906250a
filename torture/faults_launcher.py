"""Run `adrem` with a data set of a local server in its registry: `python faults_launcher.py URL WORDS`."""

from __future__ import annotations

import sys
from dataclasses import replace

from adrem.cli import main
from adrem.datasets.registry import REGISTRY, Address

NAME = "office-31-decaf"

if __name__ == "__main__":
    _, url, *words = sys.argv
    entry = REGISTRY[NAME]
    files = tuple(replace(file, addresses=(Address(f"{url}/{file.name}"),)) for file in entry.files)
    REGISTRY[NAME] = replace(entry, files=files)
    sys.argv = ["adrem", *words]
    main()
