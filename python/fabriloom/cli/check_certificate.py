"""Check a certificate of ``fabriloom route --certificate``: python check_certificate.py proof.json

Needs nothing but Python. The certificate is JSON. Each of its ``parts`` has ``links``, pairs of source and
target vertex; ``routes``, the channels by which packets leave a vertex for a destination, as ``[vertex,
destination, [[link, lane], ...]]``; and ``order``, all channels ``[link, lane]`` that packets wait on or for.
A destination that is itself left by routes is a switch on the way: from there a packet goes on to any other.
A packet that holds a channel waits only for a later one, so no packets wait for each other in a cycle.
"""

import json
import sys


def fault(part):
    """Return what is wrong with a part, or None: every packet takes channels in its order."""
    links = part["links"]
    place = {}
    for at, (link, lane) in enumerate(part["order"]):
        if place.setdefault((link, lane), at) != at:
            return f"channel {link}, lane {lane} is in the order twice"
    ways, onward = {}, {}
    for vertex, destination, channels in part["routes"]:
        if (vertex, destination) in ways:
            return f"two routes from {vertex} to {destination}"
        for link, _ in channels:
            if links[link][0] != vertex:
                return f"link {link} does not leave {vertex}"
        ways[vertex, destination] = channels
    middle = {vertex for vertex, _ in ways}
    for (vertex, destination), channels in ways.items():
        if destination not in middle:
            onward.setdefault(vertex, set()).update(map(tuple, channels))
    for (vertex, destination), channels in ways.items():
        for link, lane in channels:
            after = links[link][1]
            for further in (
                onward.get(after, []) if after == destination else ways.get((after, destination), [])
            ):
                held, wanted = place.get((link, lane)), place.get(tuple(further))
                if held is None or wanted is None or held >= wanted:
                    return f"from {vertex} to {destination}: {further} may be waited for on {[link, lane]}"
    return None


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        parts = json.load(file)["parts"]
    faults = [found for found in map(fault, parts) if found]
    print("\n".join(faults) or f"proved: order of {sum(len(part['order']) for part in parts):,} channels")
    sys.exit(1 if faults else 0)
