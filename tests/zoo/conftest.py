from __future__ import annotations

import pytest

from tests.zoo.kennel import Kennel


@pytest.fixture(scope="session")
def kennel(tmp_path_factory: pytest.TempPathFactory) -> Kennel:
    """One repository for all graders that a worker looks at, so that the bases are frozen once."""
    return Kennel(tmp_path_factory.mktemp("kennel"))
