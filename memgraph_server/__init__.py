"""memgraph-server: a temporal property-graph memory for assistants."""

import os

# NumPy's matrices here are small: sharing one product among threads costs twice the processor time and wins nothing,
# and beside the models' own threads it loses. Read when NumPy is loaded, so it stands before everything; what the
# environment says already stays.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"
