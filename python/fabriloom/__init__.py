"""Fabriloom: a simulator and workbench for lossless packet fabrics."""
