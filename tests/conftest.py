"""What every test may rely on: one event loop, and quick, repeatable properties."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
