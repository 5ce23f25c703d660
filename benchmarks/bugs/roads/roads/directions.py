"""Words for a way."""


def leg(start, end, length):
    """Return one line of directions."""
    return f"{start} -> {end}: {length} km"


def directions(roads, start, goal):
    """Return the directions from `start` to `goal`, one line for each road."""
    found = roads.shortest(start, goal)
    if found is None:
        return ["there is no way"]
    total, places = found
    lines = []
    for here, there in zip(places, places[1:]):
        lines.append(leg(there, here, roads.roads[here][there]))
    lines.append(f"{total} km in all")
    return lines
