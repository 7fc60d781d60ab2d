"""Celery as this project uses it: one queue of hints, by settings that are all here, and what is asked of a broker.

Rules:
- a message is a task's name and ids in JSON; nothing else is accepted, nothing is answered (no result backend);
- late acknowledgement: a hint is taken off the queue when it is worked off; whoever loses its process gives it back.
  On Redis that is after the visibility time-out, which is longer than any task can take, waiting for its turn included;
- one hint a process at a time, so that a slow session holds back no other;
- a broker that is away is waited for, for ever, by workers and beat; whoever serves callers gives up after a second.

Redis, or RabbitMQ, is chosen by the URL's scheme alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from celery import Celery
from kombu.exceptions import ChannelError, OperationalError

READ, SWEEP, EMBED = "memgraph_server.read", "memgraph_server.sweep", "memgraph_server.embed"

#: How often beat has what has no vectors looked for; it reads the whole store.
LOOK_SECONDS = 600.0
#: Seconds that whoever serves callers waits for a broker.
SHORT = 1.0
#: How long an answer to "who is there" is good for, and how long workers have to give it.
LOOK_AGAIN_SECONDS = 5.0
PING_SECONDS = 0.7


@dataclass(frozen=True, slots=True)
class Limits:
    """`soft_seconds`: the turn in hand has failed after that; `hard_seconds`: the process is ended."""

    soft_seconds: float = 300.0

    @property
    def hard_seconds(self) -> float:
        return self.soft_seconds + 30.0

    @property
    def visibility_seconds(self) -> float:
        """A task, one that it waited for in the same process, and a retry's wait."""
        return 2 * self.hard_seconds + 120.0


def celery_app(url: str, queue: str, limits: Limits, *, sweep_seconds: float, patient: bool) -> Celery:
    """Without tasks (`tasks.py` adds them). `patient`: for workers and beat, which wait for their broker."""
    app = Celery("memgraph_server", set_as_current=False)
    app.conf.update(
        broker_url=url,
        broker_transport_options=_transport(url, limits, patient=patient),
        broker_connection_timeout=4.0 if patient else SHORT,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_channel_error_retry=True,
        broker_pool_limit=2,
        result_backend=None,
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_default_queue=queue,
        task_default_delivery_mode="transient",  # a hint need not outlive the broker
        task_acks_late=True,
        task_acks_on_failure=True,  # the turn stays pending; the sweep finds it
        task_acks_on_timeout=True,
        task_reject_on_worker_lost=True,
        task_soft_time_limit=limits.soft_seconds,
        task_time_limit=limits.hard_seconds,
        task_publish_retry=True,
        task_publish_retry_policy={"max_retries": 1, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.2},
        worker_prefetch_multiplier=1,
        worker_cancel_long_running_tasks_on_connection_loss=False,  # what is applied twice is applied once
        worker_lost_wait=1.0,  # nobody waits for the result of a process that ended
        worker_proc_alive_timeout=120.0,  # it loads its models first
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        beat_scheduler="celery.beat:Scheduler",  # remembers nothing on disk
        beat_max_loop_interval=sweep_seconds,
        beat_schedule={
            "sweep": _entry(SWEEP, sweep_seconds, sweep_seconds),
            "embed": _entry(EMBED, LOOK_SECONDS, LOOK_SECONDS),
        },
    )
    return app


def _entry(task: str, seconds: float, expires: float) -> dict[str, Any]:
    return {"task": task, "schedule": seconds, "options": {"expires": max(1.0, expires)}}


def _transport(url: str, limits: Limits, *, patient: bool) -> dict[str, Any]:
    if url.startswith("amqp"):
        return {"confirm_publish": True} | ({} if patient else {"read_timeout": SHORT, "write_timeout": SHORT})
    seconds = 10.0 if patient else SHORT
    return {
        "visibility_timeout": limits.visibility_seconds,
        "socket_connect_timeout": min(4.0, seconds),
        "socket_timeout": seconds,
        "socket_keepalive": True,
        "health_check_interval": 10,
    }


@dataclass(frozen=True, slots=True)
class Found:
    """`workers`: how many answered; None where the broker cannot be asked."""

    ok: bool
    workers: int | None
    why: str = ""


class Broker:
    """What this project asks of a broker, with an app that is not patient. Safe for threads."""

    def __init__(self, app: Celery, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._app, self._clock = app, clock
        self._looking = threading.Lock()
        self._found: tuple[float, Found] | None = None

    def send(self, task: str, arguments: tuple[str, ...] = ()) -> None:
        """Raises what the broker's client raises."""
        self._app.send_task(task, arguments)

    def queued(self) -> int:
        """Messages that wait in the queue."""
        return queue_length(self._app)

    def look(self) -> Found:
        """Whether it answers, and which workers do; remembered for a few seconds, and asked by one thread at a time."""
        known = self._found
        if known is not None and (self._clock() - known[0] < LOOK_AGAIN_SECONDS or self._looking.locked()):
            return known[1]
        with self._looking:
            known = self._found
            if known is None or self._clock() - known[0] >= LOOK_AGAIN_SECONDS:
                found = self._ask()
                known = self._found = (self._clock(), found)
            return known[1]

    def _ask(self) -> Found:
        try:
            self.queued()
            return Found(ok=True, workers=len(self._app.control.ping(timeout=PING_SECONDS)))
        except Exception as error:  # noqa: BLE001 - whatever a broker's client raises, it could not be asked
            return Found(ok=False, workers=None, why=f"{type(error).__name__}: {error}"[:300])

    def close(self) -> None:
        self._app.close()


def queue_length(app: Celery) -> int:
    """Messages that wait in the app's queue; raises kombu's OperationalError where the broker cannot be asked."""
    with app.connection_for_write() as connection:
        try:
            connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
            found = connection.default_channel.queue_declare(app.conf.task_default_queue, passive=True)
            return int(found.message_count)
        except (ChannelError, *connection.channel_errors):  # no queue yet: nothing was sent
            return 0
        except connection.connection_errors as error:
            raise OperationalError(str(error)) from error
