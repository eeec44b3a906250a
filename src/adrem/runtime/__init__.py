"""Memory, threads, seeds, warnings, progress bars and clusters."""
