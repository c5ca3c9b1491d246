"""The retry delay study: rings of fast senders, each with a slow receiver, the port of a switch.

``docs/background/sci-retry.md`` describes how each figure is modelled, and where it agrees and where not.
"""
