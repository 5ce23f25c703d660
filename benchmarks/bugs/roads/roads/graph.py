"""A map: places, and roads with their lengths."""

import heapq


class Map:
    """Roads can be driven both ways."""

    def __init__(self):
        self.roads = {}

    def add(self, one, other, length):
        """Add a road."""
        self.roads.setdefault(one, {})[other] = length
        self.roads.setdefault(other, {})[one] = length

    def shortest(self, start, goal):
        """Return the length of the shortest way and the places on it, or `None`."""
        waiting = [(0, start, (start,))]
        done = set()
        while waiting:
            length, place, way = heapq.heappop(waiting)
            if place == goal:
                return length, list(way)
            if place in done:
                continue
            done.add(place)
            for beside, road in self.roads.get(place, {}).items():
                if beside not in done:
                    heapq.heappush(waiting, (length + road, beside, (*way, beside)))
        return None
