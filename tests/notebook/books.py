"""Notebooks of nbformat 4, as data."""

from typing import Any


def code(source: Any, *outputs: dict[str, Any], count: int | None = None, **more: Any) -> dict[str, Any]:
    """A code cell. more: further entries, such as an id."""
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [*outputs]}
    return cell | {"execution_count": count} | more


def book(*cells: dict[str, Any], minor: int = 5, **more: Any) -> dict[str, Any]:
    """A notebook. more: further entries, such as metadata."""
    return {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": [*cells]} | more
