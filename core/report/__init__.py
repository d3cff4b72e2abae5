"""Charts, and the self-contained HTML pages of reports."""
