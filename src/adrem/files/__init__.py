"""File formats and archives, and safe writes."""
