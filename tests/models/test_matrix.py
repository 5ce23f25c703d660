"""Any endpoint takes over from any other in mid-loop: seven endpoints, twelve shapes, 504 cells."""

import pytest
from models.endpoints import PAIRS, Endpoint
from models.matrix import cell
from models.shapes import SHAPES


def test_the_matrix_has_504_cells() -> None:
    assert len(PAIRS) * len(SHAPES) == 504


@pytest.mark.parametrize(
    ("source", "target"), PAIRS, ids=lambda endpoint: endpoint.name.replace(" ", "-")
)
def test_a_run_goes_on_elsewhere_and_back(source: Endpoint, target: Endpoint) -> None:
    refused = {shape.name: cell(source, target, shape) for shape in SHAPES}
    assert {name: found for name, found in refused.items() if found} == {}
