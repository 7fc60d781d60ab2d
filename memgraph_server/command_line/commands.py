"""All commands of `memgraph-server`; each is a few lines here and its work elsewhere."""

from __future__ import annotations

import typer

from memgraph_server.command_line import (
    asking,
    cypher,
    demo,
    evaluating,
    ingesting,
    jobs,
    keys,
    moving,
    operating,
    rereading,
    serving,
    working,
)

app = typer.Typer(
    name="memgraph-server",
    help="Long-term memory for assistants: keeps every fact with its history, finds the evidence for a question.",
    epilog="Try it: memgraph-server demo",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=True,
)
app.command()(serving.serve)
app.command()(working.worker)
app.command()(working.beat)
app.command()(ingesting.ingest)
app.command()(rereading.reextract)
app.command()(asking.query)
app.command()(asking.timeline)
app.command()(demo.demo)
app.command(name="eval")(evaluating.evaluate)
app.command()(moving.export)
app.command(name="import")(moving.import_)
app.command()(cypher.cypher)
app.command()(operating.migrate)
app.command()(operating.doctor)
app.command()(operating.settings)
app.add_typer(jobs.app, name="jobs")
app.add_typer(keys.app, name="keys")
