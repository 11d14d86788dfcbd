"""Golden files of the renderers: ``pytest tests/report --regenerate-golden`` writes them anew."""

from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption("--regenerate-golden", action="store_true", help="write the golden files of tests/report anew")


@pytest.fixture
def golden(request):
    """Compare a text with the golden file of that name."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--regenerate-golden", default=False):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
        assert path.exists(), f"{path} is missing: run pytest tests/report --regenerate-golden"
        assert text == path.read_bytes().decode(), f"{name} differs: look, then regenerate"

    return check
