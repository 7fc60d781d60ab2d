"""Stores: one port (`port.py`), its adapters, and their migrations. No rule of memory is decided here."""
