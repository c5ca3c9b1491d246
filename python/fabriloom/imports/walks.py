"""Where links end if only routes name them: in a route of several each begins where the one before ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

Place = str | int
"""A vertex, or one that no route names."""


class Walks:
    """The places that links join, learned route by route; short routes first say most."""

    def __init__(self) -> None:
        self._ends: dict[str, tuple[Place, Place]] = {}
        self._known: dict[int, Place] = {}
        """What a place without a name turned out to be."""
        self._number = count()

    def ends(self, link: str) -> tuple[Place, Place]:
        """Return the places that a link joins."""
        one, other = self._ends[link]
        return self._at(one), self._at(other)

    def along(self, source: str, links: Sequence[str]) -> list[Place] | None:
        """Return the places that a route passes, from its source to its end; None if it is none here."""
        found: list[Place] = [source]
        for link in links:
            one, other = self.ends(link)
            if one == other or found[-1] not in (one, other):
                return None
            found.append(other if found[-1] == one else one)
        return found

    def learn(self, source: str, links: Sequence[str], target: str) -> None:
        """Let each link begin where the one before ends, as far as no other route says otherwise."""
        here: Place = source
        for at, link in enumerate(links):
            if link not in self._ends:
                self._ends[link] = here, next(self._number)
            one, other = self.ends(link)
            if here not in (one, other):
                following = self._ends.get(links[at + 1], ()) if at + 1 < len(links) else (target,)
                # The end at which the route goes on is the far one; else a vertex with a name is.
                if one in map(self._at, following) or (isinstance(one, str) and isinstance(other, int)):
                    one, other = other, one
                self._join(here, one)
                here = self._at(other)
            else:
                here = other if here == one else one
        self._join(here, target)

    def _at(self, place: Place) -> Place:
        found = place
        while isinstance(found, int) and found in self._known:
            found = self._known[found]
        if isinstance(place, int) and place != found:
            self._known[place] = found  # the next time at once
        return found

    def _join(self, one: Place, other: Place) -> None:
        """Take two places for one, if at most one of them has a name."""
        one, other = self._at(one), self._at(other)
        if one == other:
            return
        if isinstance(one, int):
            self._known[one] = other
        elif isinstance(other, int):
            self._known[other] = one
