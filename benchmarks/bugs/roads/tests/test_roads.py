import pytest

from roads.directions import directions
from roads.graph import Map


@pytest.fixture
def roads():
    roads = Map()
    roads.add("A", "B", 4)
    roads.add("B", "C", 3)
    roads.add("A", "C", 9)
    roads.add("D", "E", 1)
    return roads


def test_the_shortest_way_may_have_more_roads(roads):
    assert roads.shortest("A", "C") == (7, ["A", "B", "C"])


def test_no_way_is_none(roads):
    assert roads.shortest("A", "E") is None


def test_directions_go_from_start_to_goal(roads):
    assert directions(roads, "A", "C") == ["A -> B: 4 km", "B -> C: 3 km", "7 km in all"]


def test_directions_without_a_way(roads):
    assert directions(roads, "A", "D") == ["there is no way"]
