"""A page to label rows of the target on, on a server for this machine alone: `adrem label`."""
