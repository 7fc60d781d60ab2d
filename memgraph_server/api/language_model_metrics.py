"""What language models cost, for Prometheus: calls and tokens by role and model. Divided by the turns, queries or
answers that they were asked about (`subjects`), they are the cost of one. No namespace and no text is a label."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from memgraph_server.language.language_model.spending import Spending

_COUNTED = {
    "calls": "Calls that an endpoint has answered",
    "prompt_tokens": "Tokens sent",
    "completion_tokens": "Tokens received",
    "cached": "Calls saved, since the same was asked before",
    "retries": "Calls that failed and were tried again",
    "seconds": "Time spent on calls, waiting included",
}


class LanguageModelMetrics(Collector):
    """Reads the sums when somebody asks for the page."""

    def __init__(self, spending: Spending) -> None:
        self._spending = spending

    def collect(self) -> Iterator[Metric]:
        sums = self._spending.sums()
        for name, about in _COUNTED.items():
            family = CounterMetricFamily(f"memgraph_server_language_model_{name}", about, labels=["role", "model"])
            for (role, model), usage in sums.items():
                family.add_metric([str(role), model], float(getattr(usage, name)))
            yield family
        troubles = CounterMetricFamily(
            "memgraph_server_language_model_troubles",
            "Replies without anything usable, and turns or calls that the local reader stood in for (fallback)",
            labels=["role", "trouble"],
        )
        for (role, trouble), count in self._spending.troubles().items():
            troubles.add_metric([str(role), trouble], float(count))
        yield troubles
        subjects = CounterMetricFamily(
            "memgraph_server_language_model_subjects",
            "What they were asked about: turns to be read, queries to be judged, answers to be written",
            labels=["kind"],
        )
        for kind, count in self._spending.subjects().items():
            subjects.add_metric([kind], float(count))
        yield subjects
