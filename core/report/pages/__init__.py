"""The pages, one for each kind of report."""
