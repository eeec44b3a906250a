"""Model files: `adrem.save` and `adrem.load`."""
