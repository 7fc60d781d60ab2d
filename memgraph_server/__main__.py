"""`memgraph-server`: the command line's entry. Nothing heavy is imported before a command needs it.

Exit codes: 0 done; 1 a fault of store, model or server; 2 something to change in what was asked; 130 interrupted.
"""

from __future__ import annotations

import sys

from memgraph_server.errors import MemgraphServerError


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit."""
    from memgraph_server.command_line.commands import app

    try:
        app(arguments, prog_name="memgraph-server")
    except MemgraphServerError as error:
        where = f" ({error.field})" if error.field and error.field not in error.message else ""
        sys.stderr.write(f"memgraph-server: {error}{where}\n")
        sys.exit(2 if error.fault == "caller" else 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
