"""Turns: stored verbatim, indexed for search in the same transaction, never changed (schema/neo4j/0001_turns.cypher).

Idempotent by id: a turn known with the same content is counted as known, one with other content is a Conflict and
nothing of the call is stored; twins within one call count alike. A call is three statements, however many turns it has:
what is known (under the namespace's lock), all writes, and the job's progress.

Handles are ordinals within the namespace, from 1: dense, ascending with arrival.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from memgraph_server.errors import Conflict, NotFound
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements, being_loaded
from memgraph_server.stores.port import Cost, Job, StoredTurns
from memgraph_server.stores.prepared import Prepared, content, prepare

__all__ = ["Prepared", "prepare"]

#: Turns of one term in one node: few enough to be written again with each new one, enough to be read as lists.
SEGMENT = 256

#: A turn `t`, in the order of `read_turn`.
TURN = "t.id, t.session, t.role, t.speaker, t.text, t.at, t.utc_offset_minutes, t.captions, t.position"

ARRIVING = Query(
    "lock a namespace and read what turns that arrive will meet there",
    f"""
    MERGE (n:Namespace {{name: $namespace}})
    ON CREATE SET n.recorded_at = $now - 1, n.sequence = 0, n.turns = 0, n.terms = 0
    SET n.locked = true
    WITH n WHERE n.loading IS NULL AND n.recorded_at IS NOT NULL
    CALL () {{
        OPTIONAL MATCH (j:Job {{namespace: $namespace, key: $key}}) RETURN j.id AS answered
    }}
    CALL () {{
        UNWIND $turns AS id MATCH (t:Turn {{namespace: $namespace, id: id}})
        RETURN collect([{TURN}, t.handle]) AS known
    }}
    CALL () {{
        UNWIND $sessions AS id MATCH (s:Session {{namespace: $namespace, id: id}})
        RETURN collect([s.id, s.turns, s.last, s.speakers]) AS sessions
    }}
    CALL () {{
        UNWIND $terms AS term MATCH (t:Term {{namespace: $namespace, term: term}})
        RETURN collect([t.term, t.documents]) AS documents
    }}
    CALL () {{
        OPTIONAL MATCH (j:Job {{namespace: $namespace, id: $job}}) RETURN j.turns AS members
    }}
    RETURN n.recorded_at, n.turns, answered, known, sessions, documents, members""",
)
#: Turns, what follows what, and postings: of turns that arrive, and of those that are loaded (moving.py).
STORE_PARTS = """
    CALL () {
        UNWIND $turns AS row CREATE (t:Turn) SET t = row
        WITH t
        MATCH (s:Session {namespace: $namespace, id: t.session})
        CREATE (s)-[:HAS_TURN {namespace: $namespace}]->(t)
    }
    CALL () {
        UNWIND $follows AS pair
        MATCH (a:Turn {namespace: $namespace, handle: pair[0]})
        WITH a, pair
        MATCH (b:Turn {namespace: $namespace, handle: pair[1]})
        CREATE (a)-[:NEXT {namespace: $namespace}]->(b)
    }
    CALL () {
        UNWIND $terms AS row
        MERGE (t:Term {namespace: $namespace, term: row[0]}) SET t.documents = row[1]
    }
    CALL () {
        UNWIND $postings AS row
        MERGE (p:Posting {namespace: $namespace, term: row.term, segment: row.segment})
        SET p.handles = coalesce(p.handles, []) + row.handles, p.counts = coalesce(p.counts, []) + row.counts
    }"""

_JOB = """
    RETURN j.id, j.created_at, COLLECT {
        UNWIND range(0, size(j.turns) - 1) AS place
        MATCH (t:Turn {namespace: $namespace, handle: j.turns[place]})
        WITH place, t ORDER BY place RETURN [t.id, t.state, t.reason, t.cost]
    }"""
STORE = Query(
    "store turns, their postings, their place in their sessions, and their job",
    f"""
    MATCH (n:Namespace {{name: $namespace}})
    SET n.recorded_at = $stamp, n.turns = n.turns + size($turns), n.terms = n.terms + $length
    WITH n
    CALL () {{
        UNWIND $sessions AS row
        MERGE (s:Session {{namespace: $namespace, id: row.id}}) ON CREATE SET s.leases = 0
        SET s.turns = row.turns, s.last = row.last, s.speakers = row.speakers, s.due_at = coalesce(s.due_at, $stamp)
    }}
    {STORE_PARTS}
    MERGE (j:Job {{namespace: $namespace, id: $job}})
    ON CREATE SET j.created_at = $stamp
    SET j.key = coalesce(j.key, $key), j.turns = $members
    WITH j
    {_JOB}""",
)
JOB = Query("a job and its turns", f"MATCH (j:Job {{namespace: $namespace, id: $job}}) {_JOB}")
FETCH = Query(
    "turns by id, in the order asked",
    f"""
    UNWIND range(0, size($turns) - 1) AS place
    MATCH (t:Turn {{namespace: $namespace, id: $turns[place]}})
    WITH t ORDER BY place
    RETURN collect([{TURN}])""",
    listed=True,
)
PREVIOUS = Query(
    "the turns just before one in its session",
    f"""
    MATCH (one:Turn {{namespace: $namespace, id: $turn}})
    OPTIONAL CALL (one) {{
        MATCH (t:Turn) WHERE t.namespace = $namespace AND t.session = one.session
            AND t.position >= one.position - $count AND t.position < one.position
        RETURN t
    }}
    RETURN {TURN} ORDER BY t.position""",
)
SPEAKERS = Query("who speaks in a session", "MATCH (s:Session {namespace: $namespace, id: $session}) RETURN s.speakers")
HANDLES = Query(
    "handles of turns",
    """
    UNWIND $turns AS id
    MATCH (t:Turn {namespace: $namespace, id: id}) RETURN collect([t.id, t.handle])""",
    listed=True,
)


def append(
    ask: Statements, namespace: str, given: Sequence[Prepared], *, job_id: str, now: Instant, key: str | None
) -> StoredTurns:
    turns = [prepared.turn for prepared in given]
    found = ask.one(
        ARRIVING,
        namespace=namespace,
        now=now,
        key=key,
        job=job_id,
        turns=list(dict.fromkeys(turn.id for turn in turns)),
        sessions=list(dict.fromkeys(turn.session_id for turn in turns)),
        terms=list({term for prepared in given for term in prepared.counts}),
    )
    if found is None:
        raise being_loaded(namespace)
    recorded_at, count, answered, known, sessions, documents, members = found
    if answered is not None:
        progress, ids = _progress(ask(JOB, namespace=namespace, job=answered)[0])
        return StoredTurns(progress, (), tuple(dict.fromkeys(ids)))
    handles = _known(turns, known)
    fresh = _fresh(given, handles)
    arrivals = {prepared.turn.id: count + place for place, prepared in enumerate(fresh, 1)}
    stamp = max(now, recorded_at + 1)
    whole = handles | arrivals
    joined = list(dict.fromkeys([*(members or []), *(whole[turn.id] for turn in turns)]))
    rows = Rows(namespace, stamp, arrivals, {row[0]: row for row in sessions})
    (stored,) = ask(
        STORE,
        namespace=namespace,
        stamp=stamp,
        job=job_id,
        key=key,
        members=joined,
        length=sum(prepared.length for prepared in fresh),
        turns=[rows.turn(prepared) for prepared in fresh],
        sessions=rows.sessions(),
        follows=rows.follows,
        **postings(fresh, arrivals, dict(documents)),
    )
    known_ids = dict.fromkeys(turn.id for turn in turns if turn.id not in arrivals)
    return StoredTurns(_progress(stored)[0], tuple(arrivals), tuple(known_ids))


def _known(turns: Sequence[Turn], rows: Sequence[Row]) -> dict[str, int]:
    """Handles of the turns that are stored already; Conflict where one of them has other content."""
    stored = {row[0]: read_turn(row) for row in rows}
    for turn in turns:
        if turn.id in stored and content(stored[turn.id]) != content(turn):
            raise Conflict(f"turn {turn.id!r} is stored already with other content", field="id")
    return {row[0]: row[9] for row in rows}


def _fresh(given: Sequence[Prepared], known: dict[str, int]) -> list[Prepared]:
    fresh: dict[str, Prepared] = {}
    for prepared in given:
        turn = prepared.turn
        if turn.id in known:
            continue
        if turn.id in fresh and content(fresh[turn.id].turn) != content(turn):
            raise Conflict(f"turn {turn.id!r} comes twice in one call with different content", field="id")
        fresh.setdefault(turn.id, prepared)
    return list(fresh.values())


class Rows:
    """Turns as they are stored, each with its place: gives positions, and remembers what follows what."""

    def __init__(self, namespace: str, stamp: Instant, handles: dict[str, int], sessions: dict[str, Row]) -> None:
        self.namespace, self.stamp, self.handles = namespace, stamp, handles
        self.follows: list[list[int]] = []
        self._known = sessions
        self._touched: dict[str, dict[str, Any]] = {}

    def turn(self, prepared: Prepared) -> dict[str, Any]:
        turn, session = prepared.turn, self._session(prepared.turn.session_id)
        handle = self.handles[turn.id]
        if session["last"] is not None:
            self.follows.append([session["last"], handle])
        if turn.speaker and turn.speaker not in session["speakers"]:
            session["speakers"].append(turn.speaker)
        position, session["turns"], session["last"] = session["turns"], session["turns"] + 1, handle
        row: dict[str, Any] = {"namespace": self.namespace, "id": turn.id, "handle": handle, "position": position}
        row |= {"session": turn.session_id, "role": turn.role.value, "speaker": turn.speaker, "text": turn.text}
        row |= {"at": turn.at, "utc_offset_minutes": turn.utc_offset_minutes, "captions": list(turn.captions)}
        row |= {"recorded_at": self.stamp, "length": prepared.length, "characters": prepared.characters}
        return row | {"state": "pending", "attempts": 0, "due_at": self.stamp, "embedder": ""}

    def sessions(self) -> list[dict[str, Any]]:
        return list(self._touched.values())

    def _session(self, session_id: str) -> dict[str, Any]:
        if session_id not in self._touched:
            _, turns, last, speakers = self._known.get(session_id, [session_id, 0, None, []])
            row = {"id": session_id, "turns": turns, "last": last, "speakers": list(speakers or [])}
            self._touched[session_id] = row
        return self._touched[session_id]


def postings(fresh: Sequence[Prepared], handles: dict[str, int], documents: dict[str, int]) -> dict[str, Any]:
    """Rows of terms with their new frequencies, and of what to append to which segment."""
    found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for prepared in fresh:
        for term, count in prepared.counts.items():
            found[term].append((handles[prepared.turn.id], count))
    segments = []
    for term, entries in found.items():
        ordinal = documents.get(term, 0)
        by_segment: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for place, entry in enumerate(entries, ordinal):
            by_segment[place // SEGMENT].append(entry)
        for segment, part in by_segment.items():
            row: dict[str, Any] = {"term": term, "segment": segment}
            segments.append(row | {"handles": [entry[0] for entry in part], "counts": [entry[1] for entry in part]})
    total = Counter(documents)
    total.update({term: len(entries) for term, entries in found.items()})
    return {"terms": [[term, total[term]] for term in found], "postings": segments}


def job(ask: Statements, namespace: str, job_id: str) -> Job:
    """Raises NotFound."""
    row = ask.one(JOB, namespace=namespace, job=job_id)
    if row is None:
        raise NotFound(f"there is no job {job_id!r}")
    return _progress(row)[0]


def _progress(row: Row) -> tuple[Job, list[str]]:
    """The job and its turns' ids."""
    job_id, created_at, members = row
    states = Counter(state for _, state, *_ in members)
    reasons = {turn_id: reason for turn_id, state, reason, _ in members if state == "dead"}
    costs = [cost for *_, cost in members if cost]
    cost = Cost(*(sum(each) for each in zip(*costs, strict=True)))
    progress = Job(job_id, len(members), states["done"], states["dead"], created_at, reasons, cost)
    return progress, [turn_id for turn_id, *_ in members]


def fetch(ask: Statements, namespace: str, turn_ids: Sequence[str]) -> list[Turn]:
    return [read_turn(row) for row in ask(FETCH, namespace=namespace, turns=list(turn_ids))] if turn_ids else []


def previous(ask: Statements, namespace: str, turn_id: str, count: int) -> list[Turn]:
    rows = ask(PREVIOUS, namespace=namespace, turn=turn_id, count=count)
    if not rows:
        raise NotFound(f"there is no turn {turn_id!r}")
    return [read_turn(row) for row in rows if row[0] is not None]


def speakers(ask: Statements, namespace: str, session_id: str) -> list[str]:
    row = ask.one(SPEAKERS, namespace=namespace, session=session_id)
    return [] if row is None else list(row[0])


def handles(ask: Statements, namespace: str, turn_ids: Sequence[str]) -> dict[str, int]:
    return ask.pairs(HANDLES, namespace=namespace, turns=list(turn_ids)) if turn_ids else {}


def read_turn(row: Row) -> Turn:
    turn_id, session_id, role, speaker, text, at, offset, captions, position = row[:9]
    return Turn(turn_id, session_id, Role(role), speaker, text, at, offset, tuple(captions), position)
