"""The fixtures for pytest: ``pytest_plugins = ["replax.testing.fixtures"]``."""

from replax._src.testing.fixtures import run_processes

__all__ = ["run_processes"]
