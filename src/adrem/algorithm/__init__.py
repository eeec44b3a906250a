"""The method of the paper, and what goes beyond it."""
