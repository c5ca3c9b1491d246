"""The GPMIMD machine: T9000 transputers on four Clos networks of C104 switches, with trigger traffic.

``docs/background/gpmimd.md`` describes how each figure is modelled, and where it agrees and where not.
"""
