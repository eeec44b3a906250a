"""How much it takes to break adrem: `python -m torture`, whose table is in docs/robustness.md."""
