"""The queue: stored turns that are still to be read. A message to a worker is only a hint; this is the truth.

Rules:
- turns of a session are read in order: a session is due when its first pending turn is, so that a turn waiting for a
  retry holds back the ones behind it; a DEAD turn is no longer pending and holds back nobody;
- a lease lends one session to one worker until it expires; a worker at work renews it, and one that died gives it back
  by time alone, and whoever lends it next is told. Whoever lends, renews or gives back locks the session first and then
  looks whose it is;
- what reading the turns needs comes with the lease, and the outcome of a session's last turn gives the lease back, so
  that a turn costs no more round trips than lending and applying;
- a lease is lost only when the session was lent again, so a slow worker that nobody replaced may still finish;
- what a worker brings is taken once: only for a PENDING turn, checked under the lock of the transaction that writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from memgraph_server.errors import NotFound
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import TurnState
from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements
from memgraph_server.stores.neo4j_store.turns import TURN, read_turn
from memgraph_server.stores.port import CONTEXT, Cost, Lease, Readiness, TurnStatus

_STATUS = "t.id, t.state, t.attempts, t.reason, t.recorded_at, t.handle, t.cost"
_FREE = "coalesce(s.lease_until, $now) <= $now"

DUE = Query(
    "sessions that could be lent now, the longest waiting first",
    f"MATCH (s:Session) WHERE s.due_at <= $now AND {_FREE} RETURN s.namespace, s.id ORDER BY s.due_at LIMIT $most",
)
LEND = Query(
    "lend a session that is to be had, with what reading it needs",
    f"""
    MATCH (s:Session {{namespace: $namespace, id: $session}}) SET s.locked = true
    WITH s WHERE s.due_at <= $now AND {_FREE}
    WITH s, s.lease_token IS NOT NULL AS lost
    SET s.leases = s.leases + 1, s.lease_until = $until
    WITH s, lost
    SET s.lease_token = elementId(s) + '.' + toString(s.leases) + '.' + $worker
    WITH s, lost
    CALL (s) {{
        MATCH (t:Turn) USING INDEX t:Turn(namespace, session, state, position)
        WHERE t.namespace = s.namespace AND t.session = s.id AND t.state = 'pending' AND t.position >= 0
        WITH t ORDER BY t.namespace, t.session, t.state, t.position LIMIT $limit
        RETURN collect([{TURN}, t.due_at, t.attempts]) AS turns, min(t.position) AS first
    }}
    CALL (s, first) {{
        MATCH (t:Turn) USING INDEX t:Turn(namespace, session, position)
        WHERE t.namespace = s.namespace AND t.session = s.id AND t.position >= first - $context AND t.position < first
        WITH t ORDER BY t.position
        RETURN collect([{TURN}]) AS before
    }}
    RETURN s.lease_token, turns, before, s.speakers, lost""",
)
RELEASE = Query(
    "give a session back",
    """
    MATCH (s:Session {namespace: $namespace, id: $session}) SET s.locked = true
    WITH s WHERE s.lease_token = $token
    SET s.lease_token = null, s.lease_until = null""",
)
RENEW = Query(
    "hold a session for longer",
    """
    MATCH (s:Session {namespace: $namespace, id: $session}) SET s.locked = true
    WITH s WHERE s.lease_token = $token
    SET s.lease_until = $until
    RETURN s.lease_until""",
)
#: A session of turn `t` is due when its first pending turn is.
_SET_DUE = """
    MATCH (s:Session {namespace: $namespace, id: session})
    OPTIONAL CALL (s) {
        MATCH (p:Turn) WHERE p.namespace = $namespace AND p.session = s.id AND p.state = 'pending' AND p.position >= 0
        RETURN p.due_at AS due_at ORDER BY p.namespace, p.session, p.state, p.position LIMIT 1
    }
    SET s.due_at = due_at"""
LOCK = Query("lock a namespace that exists", "MATCH (n:Namespace {name: $namespace}) SET n.locked = true RETURN n.name")
FAIL = Query(
    "an attempt at a turn that failed; one that is done or dead already stays so",
    f"""
    MATCH (t:Turn {{namespace: $namespace, id: $turn}}) WHERE t.state = 'pending'
    SET t.state = $state, t.attempts = t.attempts + 1, t.reason = $reason, t.due_at = $due_at
    WITH t.session AS session
    {_SET_DUE}""",
)
REPLAY = Query(
    "dead turns to pending",
    f"""
    CALL () {{
        MATCH (t:Turn) WHERE t.namespace = $namespace AND t.state = 'dead' AND t.handle >= 0
            AND ($turns IS NULL OR t.id IN $turns)
        SET t.state = 'pending', t.attempts = 0, t.due_at = $now
        RETURN t.session AS session, count(t) AS number
    }}
    {_SET_DUE}
    RETURN sum(number)""",
)
STATUS = Query("a turn's state", f"MATCH (t:Turn {{namespace: $namespace, id: $turn}}) RETURN {_STATUS}")
DEAD = Query(
    "dead turns in order of arrival",
    f"""
    MATCH (t:Turn) WHERE t.namespace = $namespace AND t.state = 'dead' AND t.handle > $after
    RETURN {_STATUS} ORDER BY t.namespace, t.state, t.handle LIMIT $limit""",
)
READINESS = Query(
    "pending and dead turns of a namespace",
    """
    UNWIND ['pending', 'dead'] AS state
    OPTIONAL CALL (state) {
        MATCH (t:Turn) WHERE t.namespace = $namespace AND t.state = state AND t.handle >= 0
        RETURN count(t) AS number, min(t.recorded_at) AS oldest
    }
    RETURN number, oldest""",
)
OVERALL = Query(
    "pending and dead turns of all namespaces",
    """
    UNWIND ['pending', 'dead'] AS state
    OPTIONAL CALL (state) {
        MATCH (t:Turn) WHERE t.state = state AND t.recorded_at IS NOT NULL
        RETURN count(t) AS number, min(t.recorded_at) AS oldest
    }
    RETURN number, oldest""",
)
NAMESPACES = Query(
    "names of namespaces",
    "MATCH (n:Namespace) WHERE n.name IS NOT NULL AND n.loading IS NULL RETURN n.name ORDER BY n.name",
)
#: Sessions looked at where others lend at the same time.
CANDIDATES = 8


def candidates(ask: Statements, now: Instant) -> list[tuple[str, str]]:
    """Sessions (namespace, id) that could be lent."""
    return [(namespace, session) for namespace, session in ask(DUE, now=now, most=CANDIDATES)]


def lend(
    ask: Statements, session: tuple[str, str], worker: str, *, now: Instant, seconds: float, limit: int
) -> Lease | None:
    """None where there is nothing to lend, or somebody else was faster."""
    until = now + round(seconds * 1_000_000)
    asked = {"namespace": session[0], "session": session[1], "limit": limit, "context": CONTEXT}
    row = ask.one(LEND, **asked, worker=worker, now=now, until=until)
    if row is None:
        return None
    token, pending, before, speakers, lost = row
    due = list(takewhile(lambda each: each[9] <= now, pending))
    tries = due[0][10] if due else 0
    lent, known = tuple(map(read_turn, due)), tuple(map(read_turn, before))
    return Lease(*session, token, until, lent, tries, known, tuple(speakers or ()), lost)


def renew(ask: Statements, lease: Lease, until: Instant) -> bool:
    """Whether the lease is still held; it then lasts until `until`."""
    held = ask(RENEW, namespace=lease.namespace, session=lease.session_id, token=lease.token, until=until)
    return bool(held)


def release(ask: Statements, lease: Lease) -> None:
    ask(RELEASE, namespace=lease.namespace, session=lease.session_id, token=lease.token)


def fail(ask: Statements, namespace: str, turn_id: str, *, reason: str, final: bool, retry_at: Instant) -> None:
    """One more attempt failed."""
    ask(LOCK, namespace=namespace)
    status(ask, namespace, turn_id)
    state = TurnState.DEAD if final else TurnState.PENDING
    ask(FAIL, namespace=namespace, turn=turn_id, state=state.value, reason=reason, due_at=retry_at)


def replay(ask: Statements, namespace: str, turn_ids: Sequence[str] | None, now: Instant) -> int:
    ask(LOCK, namespace=namespace)
    wanted = None if turn_ids is None else list(turn_ids)
    row = ask.one(REPLAY, namespace=namespace, turns=wanted, now=now)
    return 0 if row is None else int(row[0])


def status(ask: Statements, namespace: str, turn_id: str) -> TurnStatus:
    row = ask.one(STATUS, namespace=namespace, turn=turn_id)
    if row is None:
        raise NotFound(f"there is no turn {turn_id!r}")
    return _status(row)


def dead_turns(ask: Statements, namespace: str, limit: int, after: int) -> tuple[list[TurnStatus], int | None]:
    """In order of arrival; the second value is where to go on, if there is more."""
    rows = ask(DEAD, namespace=namespace, after=after, limit=limit + 1)
    last = rows[limit - 1][5] if len(rows) > limit > 0 else None
    return [_status(row) for row in rows[:limit]], last


def _status(row: Row) -> TurnStatus:
    turn_id, state, attempts, reason, recorded_at, _, cost = row
    return TurnStatus(turn_id, TurnState(state), attempts, reason, recorded_at, Cost(*(cost or ())))


def readiness(ask: Statements, namespace: str | None, embedder: str | None, version: int) -> Readiness:
    """Of one namespace, or of all of them (None)."""
    rows = ask(OVERALL) if namespace is None else ask(READINESS, namespace=namespace)
    (pending, oldest), (dead, _) = rows
    return Readiness(pending, oldest, dead, version, embedder)
