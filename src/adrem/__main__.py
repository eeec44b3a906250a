"""``python -m adrem`` is ``adrem``."""

from adrem.cli import main

main()
