"""The page of `adrem label`, its server, and the journal of the answers."""
