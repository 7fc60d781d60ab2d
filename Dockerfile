# One image for all parts: serve, worker, beat, migrate, keys are commands of the same program.
# Build: docker build -t memgraph-server .   Run: docs/deployment.md
#
# Models, parser and schema are inside the installed packages: nothing is downloaded when it runs. The versions of Python
# and Debian are those that the tests run on.
ARG PYTHON=3.11-slim-bookworm

# -- the wheel, and an environment with it: pip and what it needs stay behind
FROM python:${PYTHON} AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY schema ./schema
COPY workers ./workers
COPY memgraph_server ./memgraph_server
# Not pinned, since the wheel that is installed is the one just built:
# hadolint ignore=DL3013
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
    && python -m venv --without-pip /opt/memgraph-server \
    && wheel="$(ls /wheels/memgraph_server-*.whl)" \
    && pip --python /opt/memgraph-server/bin/python install --no-cache-dir "${wheel}[neo4j,workers]"

# -- what runs: Python, that environment, a user without rights
FROM python:${PYTHON}
LABEL org.opencontainers.image.title="memgraph-server" \
      org.opencontainers.image.description="Long-term memory for assistants: a temporal property graph" \
      org.opencontainers.image.source="https://github.com/memgraph-server/memgraph-server" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 memgraph \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/memgraph-server --shell /usr/sbin/nologin memgraph \
    && install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/memgraph-server
COPY --from=build /opt/memgraph-server /opt/memgraph-server

# A volume belongs at /var/lib/memgraph-server: the API keys, and the store where it is SQLite. All else may be read-only,
# but /tmp.
ENV PATH=/opt/memgraph-server/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    ORT_DISABLE_TELEMETRY=1 \
    MEMGRAPH_SERVER_HOST=0.0.0.0 \
    MEMGRAPH_SERVER_PORT=8765 \
    MEMGRAPH_SERVER_STORE=sqlite:////var/lib/memgraph-server/memory.db \
    MEMGRAPH_SERVER_KEYS_FILE=/var/lib/memgraph-server/keys.json
WORKDIR /var/lib/memgraph-server
USER 10001:10001
EXPOSE 8765
STOPSIGNAL SIGTERM
# Of `serve`; other commands have their own check, or none, where they are started.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
ENTRYPOINT ["memgraph-server"]
CMD ["serve"]
