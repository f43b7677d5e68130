"""A sample: one question put to a model, with everything that is needed to score the answer."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question, made from a recording or a benchmark and independent of it from then on."""

    id: str
    """Recording, question and place, so that the same question has the same id in every run."""
    question: str
    """The kind of question, a name in `QUESTIONS`."""
    program: str
    """The id of the program."""
    cluster: str
    """Equal for samples of the same code, whatever it is called with: they are not independent."""
    parts: dict[str, str]
    """The prompt in named parts, in order; `prompt` joins them."""
    answer: str
    """The reference answer, in the form a model is asked for."""
    data: dict[str, Any] = field(default_factory=dict)
    """JSON-able values that scoring needs, and tables group by.

    All kinds have the ``form`` of the answer. Samples of recordings have the number of ``events`` of the
    trace, and the ``depth`` of calls if the trace is not very long. Samples about a place in a run have
    ``file``, ``line``, ``k`` and ``variable``. A kind of question may add more.
    """

    @property
    def prompt(self) -> str:
        """All that a model sees."""
        return "\n\n".join(self.parts.values())

    @property
    def view(self) -> str:
        """The view of the kernel's state that it shows; empty unless the question is about a notebook."""
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


def line_of(sample: Sample, extra: Mapping[str, object] | None = None) -> str:
    """A sample with its prompt as a line of JSON. extra: more fields of the line, with other names."""
    return json.dumps({"id": sample.id, "prompt": sample.prompt, **sample.to_dict(), **(extra or {})}) + "\n"
