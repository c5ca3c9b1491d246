"""Whole scenarios, as users write them, in the engine and in its slow twin."""
