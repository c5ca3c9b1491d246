"""Drawings of networks: ``network`` begins; each other file draws one part."""

from .network import fabric_svg

__all__ = ["fabric_svg"]
