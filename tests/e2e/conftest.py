"""A desk for each test."""

from pathlib import Path

import pytest
from e2e.e2e_support import MODULE, TESTS, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(folder=tmp_path)
    made.write({"shop.py": MODULE, "test_shop.py": TESTS})
    made.commit()
    return made
