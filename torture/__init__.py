"""Tests of robustness: `python -m torture` tries bad input, bad files and faults for docs/robustness.md."""
