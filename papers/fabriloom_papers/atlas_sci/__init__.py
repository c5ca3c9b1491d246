"""The ATLAS note on SCI components: cards in PCs, message passing, switches.

``docs/background/atlas-sci.md`` describes how each table is modelled, and where it agrees and where not.
"""
