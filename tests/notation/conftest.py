"""The recordings of tests of notations are made as those of tests of questions are."""

from tests.ask.conftest import record

__all__ = ["record"]
