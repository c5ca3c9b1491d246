"""Failures: which links fail, and when each of them is down."""
