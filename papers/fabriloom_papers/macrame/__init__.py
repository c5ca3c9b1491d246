"""The Macramé testbed: 1024 nodes on DS-Links and STC104 switches.

``docs/background/macrame.md`` describes how each figure is modelled, and where it agrees and where not.
"""
