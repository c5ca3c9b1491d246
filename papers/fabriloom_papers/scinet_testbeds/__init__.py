"""The two test beds of the SCINET chapter: PCs on a ring of two that write to and read from each other.

``docs/background/scinet-testbeds.md`` describes how their numbers are modelled, and where they agree and
where not.
"""
