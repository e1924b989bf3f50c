"""How the work of a run is distributed: over processes of this machine, and over shards."""
