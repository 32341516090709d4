"""Trees: what they are, how they are grown, and how they are shown."""
