"""A sample: one question put to a model, with everything that is needed to score the answer."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question, made from a recording or a benchmark and independent of it from then on.

    id: recording, question and place, so that the same question has the same id in every run.
    question: its kind, a name in `QUESTIONS`. program: id of the program. cluster: equal for samples of
    the same code, whatever it is called with: they are no independent observations. parts: the prompt in
    named parts, in order; `prompt` joins them. answer: the reference answer, in the form a model is asked
    for. data: what scoring needs besides, JSON-able:

    - every kind: ``form`` of the answer; of lines and variables also ``file``; of recordings ``events`` of
      the trace and ``depth`` of its calls, where it is not very long;
    - ``output``: ``form`` is ``value`` or ``stdout``; ``strict`` (see `values.same`) of a value;
    - ``input``: ``program`` (to run an answer), ``sources`` (what else is shown), ``entry``, ``expected``
      (the result), ``strict``;
    - ``next_line``: ``line``, ``k``, ``event``, ``frame``, ``function``, ``falls_through``;
    - ``state``: ``line``, ``k``, ``variable``, ``event``, ``strict``;
    - ``history``: ``file``, ``function``, ``k`` (of the call), ``variable``, ``strict``;
    - ``cell_output``, ``next_cell``, ``crash``: ``trajectory`` (its file), ``step``, ``cell``,
      ``near_duplicate``, ``copy`` (what the same cell showed, was, or raised, before), ``history`` and
      ``state`` (what went into the prompt and what was cut); of outputs ``kind`` and the recorded ``value``
      of what is shown;
    - ``step``: ``line``, ``state`` (number of the state that is given), ``comes`` (kind of the event that is
      asked for), ``detail``, ``jump``, ``direction`` (``on`` or ``back``), ``notation``, ``kept`` (whether
      all that the answer holds stands in the given state), and ``known``, the given state, where the answer
      is told after it;
    - ``exception``: ``line``, ``exception`` (its class), ``message``;
    - ``calls``, ``changes``: nothing else;
    - ``move``: ``line``, ``k``, ``event``, ``command``;
    - ``branch``, ``visit``, ``iterations``, ``after_loop``, ``alias``, ``type``, ``coverage``: ``line``,
      ``k``, ``event``, ``variable``, as far as the question names them;
    - ``program``, ``self_invoking``, ``speed``: ``task``, ``code``, ``visible_tests``, ``entry_point``,
      ``setup``, ``driver``, ``test_setup``, ``tests``, ``cases``, ``modules``, ``parts``, ``known_bad``, and
      where they are given ``unittest``, ``checker``, ``environment``: as in
      `sources.sets.coding.CodingTask`; of ``speed`` the slow program too, ``slow``;
    - ``path``: ``first`` (line -> first line of its statement), ``silent`` (lines not counted), ``most``
      (lines that are asked for, where the path is longer).
    """

    id: str
    question: str
    program: str
    cluster: str
    parts: dict[str, str]
    answer: str
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """What a model sees, and all that it sees."""
        return "\n\n".join(self.parts.values())

    @property
    def view(self) -> str:
        """Which view of the kernel's state it shows; empty for what is no question about notebooks."""
        state = self.data.get("state")
        kind = state.get("kind") if isinstance(state, dict) else None
        return kind if isinstance(kind, str) else ""

    @property
    def id_in_all_views(self) -> str:
        """The id without the view, which ends it in a file of several views."""
        return self.id.removesuffix(f":{self.view}") if self.view else self.id

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-able values; `Sample.from_dict` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Sample":
        """Inverse of `to_dict`."""
        return cls(**row)


def line_of(sample: Sample, told: Mapping[str, object] | None = None) -> str:
    """A sample with its prompt as a line of JSON. told: what the line says besides, under other names."""
    return json.dumps({"id": sample.id, "prompt": sample.prompt, **sample.to_dict(), **(told or {})}) + "\n"
