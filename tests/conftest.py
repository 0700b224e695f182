"""Shared by all tests: `within` asserts a measured error, and `pytest --measured` prints all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("pliant", deadline=None, derandomize=True)  # no clock, the same cases every time
settings.load_profile("pliant")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--measured", action="store_true", help="print the errors that tests measured")


@pytest.fixture
def within(record_property) -> Callable[..., None]:
    """within(error, allowed, what): asserts that the largest |error| is allowed, and keeps the number."""

    def check(error, allowed: float, what: str = "error") -> None:
        largest = float(np.max(np.abs(error)))
        record_property(f"measured {what}", (largest, float(allowed)))
        assert largest <= allowed, f"{what}: {largest:.3g} exceeds {allowed:g}"

    return check


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if not config.getoption("--measured"):
        return
    terminalreporter.section("measured")
    for report in terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", []):
        for name, value in report.user_properties:
            if report.when == "call" and name.startswith("measured "):
                numbers = f"{value[0]:9.2e} of {value[1]:.1e} allowed"
                test = report.nodeid.split("/")[-1]
                terminalreporter.write_line(f"{numbers}  {test}, {name.removeprefix('measured ')}")
