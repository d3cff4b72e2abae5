"""Long work: in parallel, resumed after a kill, with progress."""
