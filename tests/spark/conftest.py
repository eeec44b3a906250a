"""One Spark for all tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sparks import start_spark


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    session = start_spark("local[2]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()
