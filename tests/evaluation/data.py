"""Where development data lies, if it is on this machine: MEMGRAPH_SERVER_TEST_DATA, else ../shared/data."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("MEMGRAPH_SERVER_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))
LOCOMO = DATA / "locomo" / "locomo_dev.json"
REALMEM = DATA / "realmem"
TEMPORAL_GRAPHS = DATA / "temporalkg"
