"""The sections of a scenario, one file each."""
