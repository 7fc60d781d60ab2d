"""What Prometheus is told. One registry an application, so that two do not mix; no namespace is a label."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from memgraph_server.actions.readiness import Report
from memgraph_server.workers.in_process import Progress

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Requests as they are answered; the rest is read when somebody asks."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "memgraph_server_requests", "Answered requests", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "memgraph_server_request_seconds", "Time to answer", ["route"], buckets=_SECONDS, registry=self.registry
        )
        self._gauges = {
            name: Gauge(f"memgraph_server_{name}", about, registry=self.registry)
            for name, about in {
                "ready": "1 where work gets done",
                "pending_turns": "Stored turns whose facts are not read yet",
                "oldest_pending_seconds": "How long the oldest of them has waited",
                "dead_turns": "Turns given up after bounded retries",
                "workers_answering": "Workers that answer over the broker",
                "turns_read": "Turns this process has read since it started",
                "worker_failures": "Failures of this process's worker since it started",
                "worker_last_read_timestamp_seconds": "When this process's worker last finished a batch",
            }.items()
        }

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests.labels(method, route, status or "none").inc()
        self.seconds.labels(route).observe(seconds)

    def page(self, report: Report, progress: Progress | None) -> tuple[bytes, str]:
        """The exposition and its media type."""
        values = {
            "ready": float(report.ready),
            "pending_turns": report.pending,
            "oldest_pending_seconds": report.oldest_pending_seconds or 0.0,
            "dead_turns": report.dead,
            "workers_answering": report.workers_answering,
            "turns_read": progress.turns if progress else 0,
            "worker_failures": progress.failures if progress else 0,
            "worker_last_read_timestamp_seconds": (progress.last_read_at or 0) / 1e6 if progress else 0,
        }
        for name, value in values.items():
            self._gauges[name].set(float("nan") if value is None else value)
        return generate_latest(self.registry), CONTENT_TYPE_LATEST
