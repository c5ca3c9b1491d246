"""The SCINET chapter: switches and multistage networks of SCI rings.

``docs/background/scinet.md`` describes how each figure is modelled, and where it agrees and where not.
"""
