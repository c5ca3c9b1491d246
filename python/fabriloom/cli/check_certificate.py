"""Check a certificate of ``fabriloom route --certificate``: python check_certificate.py proof.json

Needs nothing but Python. The certificate is JSON. Each of its ``parts`` has ``links``, pairs of source and
target vertex; ``routes``, the channels by which packets leave a vertex for a destination, as ``[vertex,
destination, [[link, lane], ...]]``; and ``order``, all channels ``[link, lane]`` that packets wait on or for.
A destination that is itself left by routes is a switch on the way: from there a packet goes on to any other.
A packet that holds a channel waits only for a later one, so no packets wait for each other in a cycle.
Of ``rings``, if there are any, each has the channels of its hops in turn. They count as one: a place in the
ring is free, and a packet behind it can take it on any channel of the next hop. The switches have to see to
that: what comes into a ring leaves it a place.
Where tables have replaced others, ``before`` has the routes of these, first to last: packets may still hold
channels by them, but none of links that are ``dead``, while they wait for those of later ones; ``down`` has
the links that were dead while each of these was in use.
"""

import json
import sys


def fault(part):
    """Return what is wrong with a part, or None: every packet takes channels in its order."""
    links, place, goes_on, held, total, dead = part["links"], {}, {}, {}, 0, part.get("dead", ())
    for at, (link, lane) in enumerate(part["order"]):
        if place.setdefault((link, lane), at) != at:
            return f"channel {link}, lane {lane} is in the order twice"
    for number, ring in enumerate(part.get("rings", [])):
        hops = [set(map(tuple, hop)) for hop in ring]
        for hop, ahead in zip(hops, hops[1:] + hops[:1], strict=True):
            meet = {links[link][1] for link, _ in hop} | {links[link][0] for link, _ in ahead}
            if not hop or len(meet) > 1:
                return f"ring {number} is not one circle"
            goes_on.update(dict.fromkeys(hop, ahead))
        channels, total = set().union(*hops), total + sum(map(len, hops))
        if len(channels & place.keys()) != 1 or len(goes_on) != total:
            return f"ring {number} is not in the order once, or has channels of another"
        place |= dict.fromkeys(channels, place[(channels & place.keys()).pop()])
    down = dict(enumerate(part.get("down", ())))
    for number, routes in enumerate([*part.get("before", []), part["routes"]]):
        ways, onward, gone = {}, {}, {*dead, *down.get(number, ())}
        for vertex, destination, channels in routes:
            if (vertex, destination) in ways:
                return f"two routes from {vertex} to {destination}"
            for link, _ in channels:
                if links[link][0] != vertex:
                    return f"link {link} does not leave {vertex}"
            ways[vertex, destination] = {(link, lane) for link, lane in channels if link not in gone}
        middle = {vertex for vertex, _ in ways}
        for (vertex, destination), channels in ways.items():
            held.setdefault(destination, set()).update(channels)
            if destination not in middle:
                onward.setdefault(vertex, set()).update(channels)
        for destination, channel in ((to, one) for to, all_held in held.items() for one in all_held):
            if channel[0] in gone:
                continue
            vertex, after = links[channel[0]]
            wanted = onward.get(after, ()) if after == destination else ways.get((after, destination), ())
            ahead = goes_on.get(channel, set())
            free = ahead if after != destination and ahead <= set(wanted) else set()
            for further in sorted(set(wanted) - free):
                if channel not in place or place[channel] >= place.get(further, -1):
                    return f"from {vertex} to {destination}: {further} may be waited for on {channel}"
    return None


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        parts = json.load(file)["parts"]
    faults = [found for found in map(fault, parts) if found]
    print("\n".join(faults) or f"proved: order of {sum(len(part['order']) for part in parts):,} channels")
    sys.exit(1 if faults else 0)
