"""Parts of reports: ``shared`` has those of all, each other file those of one feature."""
