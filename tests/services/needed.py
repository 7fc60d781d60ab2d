"""Services that some tests need: without them the rest runs, and the end of the run says what was left out.

With MEMGRAPH_TEST_SERVICES=required, as `.ci/run` sets it, a service that is absent is a failure.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

#: How every reason of a test that was left out for a service begins.
LEFT_OUT = "needs a real"


def optional(service: str, how: str) -> NoReturn:
    """Leave the test out, in `.ci/run` too."""
    pytest.skip(f"{LEFT_OUT} {service}: {how}")


def absent(service: str, how: str) -> NoReturn:
    """Leave the test out. `how`: what switches it on."""
    reason = f"{LEFT_OUT} {service}: {how}"
    if os.environ.get("MEMGRAPH_TEST_SERVICES") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
