"""`keys`: create, list and revoke API keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from memgraph_server import access
from memgraph_server.access import EVERYWHERE, KeyFile, Role
from memgraph_server.actions import inputs
from memgraph_server.command_line.options import AsJson, Store, settings_of
from memgraph_server.command_line.output import print_json, table

app = typer.Typer(help="API keys: who may do what in which namespaces.", no_args_is_help=True)


@app.command()
def create(
    namespace: Annotated[list[str], typer.Option("--namespace", "-n", help="a namespace, or * for all; repeatable")],
    role: Annotated[Role, typer.Option(help="reader: asks; writer: stores and corrects; operator: erases too")],
    label: Annotated[str, typer.Option(help="whose key it is, for you")] = "",
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and show it, once.

    Example: memgraph-server keys create --namespace ann --role writer --label "Ann's assistant"
    """
    names = [one if one == EVERYWHERE else inputs.namespace(one) for one in namespace]
    words = inputs.well_formed(label, "label", 256)
    secret, key = access.new_key(names, role, words, _now())
    _file(store).add(key)
    if as_json:
        print_json({"id": key.id, "key": secret})
        return
    typer.echo(secret)
    typer.echo("This is the only time it is shown; only its hash is kept.", err=True)


@app.command(name="list")
def list_keys(store: Store = None, as_json: AsJson = False) -> None:
    """Show the keys, without their secrets."""
    keys = list(_file(store).keys().values())
    if as_json:
        print_json({"keys": [_shown(key) for key in keys]})
        return
    rows = [(key.id, key.role, ", ".join(key.namespaces), key.label, key.created_at, key.revoked_at) for key in keys]
    table("API keys", ("id", "role", "namespaces", "label", "created", "revoked"), rows)


@app.command()
def revoke(key_id: Annotated[str, typer.Argument(help="the key's id, as listed")], store: Store = None) -> None:
    """Refuse a key from now on, in every running server."""
    key = _file(store).revoke(key_id, _now())
    typer.echo(f"{key.id} is revoked since {key.revoked_at}", err=True)


def _file(store: str | None) -> KeyFile:
    return KeyFile(settings_of(store=store).keys_path)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _shown(key: access.Key) -> dict[str, object]:
    return {
        "id": key.id, "role": key.role, "namespaces": list(key.namespaces), "label": key.label,
        "created_at": key.created_at, "revoked_at": key.revoked_at,
    }  # fmt: skip
