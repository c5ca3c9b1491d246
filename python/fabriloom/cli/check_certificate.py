"""Check a certificate of ``fabriloom route --certificate``: python check_certificate.py proof.json

Needs nothing but Python. The certificate is JSON. Each of its ``parts`` has ``links``, pairs of source and
target vertex; ``routes``, the channels by which packets leave a vertex for a destination, as ``[vertex,
destination, [[link, lane], ...]]``; and ``order``, all channels ``[link, lane]`` that packets wait on or for.
A destination that is itself left by routes is a switch on the way: from there a packet goes on to any other.
A packet that holds a channel waits only for a later one, so no packets wait for each other in a cycle.
Channels of one of the ``rings``, if there are any, count as one: some place in the ring is free, and a packet
behind it can take it on any channel. The switches see to that: what comes into a ring leaves it a place.
"""

import json
import math
import sys


def fault(part):
    """Return what is wrong with a part, or None: every packet takes channels in its order."""
    links, place, circle, ways, onward = part["links"], {}, {}, {}, {}
    for at, (link, lane) in enumerate(part["order"]):
        if place.setdefault((link, lane), at) != at:
            return f"channel {link}, lane {lane} is in the order twice"
    for number, ring in enumerate(set(map(tuple, ring)) for ring in part.get("rings", [])):
        ends, named = {tuple(links[link]) for link, _ in ring}, ring & place.keys()
        after, walk = dict(ends), [min(ends)[0]]
        for _ in after:
            walk.append(after.get(walk[-1]))
        if walk[0] != walk[-1] or {len(after), len(set(walk))} != {len(ends)}:
            return f"ring {number} is not one circle"
        if len(named) != 1 or ring & circle.keys():
            return f"ring {number} is not in the order once, or has channels of another"
        place |= dict.fromkeys(ring, place[named.pop()])
        circle |= dict.fromkeys(ring, number)
    for vertex, destination, channels in part["routes"]:
        if (vertex, destination) in ways:
            return f"two routes from {vertex} to {destination}"
        for link, _ in channels:
            if links[link][0] != vertex:
                return f"link {link} does not leave {vertex}"
        ways[vertex, destination] = set(map(tuple, channels))
    middle = {vertex for vertex, _ in ways}
    for (vertex, destination), channels in ways.items():
        if destination not in middle:
            onward.setdefault(vertex, set()).update(channels)
    hops = {}
    for channel, number in circle.items():
        hops.setdefault((links[channel[0]][0], number), set()).add(channel)
    for (vertex, destination), channels in ways.items():
        for channel in channels:
            after = links[channel[0]][1]
            wanted = onward.get(after, ()) if after == destination else ways.get((after, destination), ())
            hop = hops.get((after, circle.get(channel)), set())
            free = hop if after != destination and hop <= set(wanted) else set()
            for further in sorted(set(wanted) - free):
                if not place.get(channel, math.inf) < place.get(further, -1):
                    return f"from {vertex} to {destination}: {further} may be waited for on {channel}"
    return None


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        parts = json.load(file)["parts"]
    faults = [found for found in map(fault, parts) if found]
    print("\n".join(faults) or f"proved: order of {sum(len(part['order']) for part in parts):,} channels")
    sys.exit(1 if faults else 0)
