"""Answers with guesses are those of greedy decoding without any."""

import random

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no torch: would have proved that guessing changes no answer")

from deskcheck.teach.lessons.tokens import Bytes  # noqa: E402
from deskcheck.teach.small.interpreter import ModelRows  # noqa: E402
from deskcheck.teach.small.model import Model, ModelConfig  # noqa: E402
from deskcheck.teach.small.networks import TorchNetwork  # noqa: E402

PREFIXES = ["1|def f(n):\n2|    return n\n\n", "1|x = 1\n\n", "1|def f(n):\n2|    return n\n\n"]


@pytest.fixture(scope="module", params=[0, 3], ids=["alone", "shift"])
def network(request: pytest.FixtureRequest) -> TorchNetwork:
    torch.manual_seed(1)
    config = ModelConfig(
        vocab_size=Bytes.size,
        layers=2,
        hidden_size=32,
        heads=2,
        intermediate_size=48,
        shift_tokens=request.param,
    )
    model = Model(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4 if weight.dim() == 2 else 1)  # far from even, so that answers differ
        model.embed_tokens.weight[128:256] = 0  # answers are texts
    return TorchNetwork(model)


def greedy(network: TorchNetwork, prefix: str, prompt: str, longest: int) -> tuple[list[int], float]:
    """Token by token, everything read anew each time."""
    whole = Bytes().encode(prefix) + Bytes().encode(prompt)
    before, written, nll = len(Bytes().encode(prefix)), [], 0.0
    with torch.inference_mode():
        while len(whole) - before < longest:
            logs = torch.log_softmax(network.model.logits(network.model(torch.tensor([whole]))[0][0, -1]), -1)
            token = int(logs.argmax())
            nll -= float(logs[token])
            whole.append(token)
            written.append(token)
            if token == Bytes.end:
                break
    return written, nll


@pytest.mark.parametrize("guess", ["true", "half", "none", "other"])
def test_guesses_change_nothing(network: TorchNetwork, guess: str) -> None:
    rows = ModelRows(network, Bytes(), PREFIXES, longest=70)
    prompts = ["f 2: n=4\n+1\n", "g 7: x=[1, 2]\n+1\n", "f 1: n=12\n+1\n"]
    wanted = [greedy(network, prefix, prompt, 70) for prefix, prompt in zip(PREFIXES, prompts, strict=True)]
    drafts = []
    for tokens, _ in wanted:
        text = Bytes().decode(tokens)
        other = "".join([c if random.Random(number).random() < 0.8 else "x" for number, c in enumerate(text)])
        drafts.append({"true": text, "half": text[::2], "none": "", "other": other}[guess])
    answers = rows.ask({row: (prompts[row], drafts[row]) for row in range(3)})
    for row, (tokens, nll) in enumerate(wanted):
        mine = answers[row]
        assert Bytes().encode(mine.text)[:40] == [t for t in tokens if t < 256][
            :40
        ] or mine.text == Bytes().decode(tokens)
        assert mine.nll is not None
        assert mine.nll / mine.tokens == pytest.approx(nll / len(tokens), rel=0.2)


def test_right_guesses_take_few_passes(network: TorchNetwork) -> None:
    rows = ModelRows(network, Bytes(), PREFIXES[:1], longest=60)
    prompt = "f 2: n=4\n+1\n"
    without = rows.ask({0: (prompt, "")})[0]
    guessed = rows.ask({0: (prompt, without.text)})[0]
    assert guessed.text[:30] == without.text[:30]
    assert guessed.passes < without.passes / 4


def test_rows_can_be_dropped_and_added(network: TorchNetwork) -> None:
    prompts = {0: ("a 1: n=4\n+1\n", ""), 1: ("b 1: n=5\n+1\n", "b 1: n=5")}
    rows = ModelRows(network, Bytes(), PREFIXES[:2], longest=40)
    together = rows.ask(prompts)
    rows.keep([1])
    rows.add(ModelRows(network, Bytes(), PREFIXES[:1], longest=40))
    assert len(rows) == 2
    again = rows.ask({0: prompts[1], 1: prompts[0]})
    assert again[0].text == together[1].text
    assert again[1].text == together[0].text


def test_log_probabilities_are_those_of_the_answer(network: TorchNetwork) -> None:
    """Of an answer that greedy decoding gives: exact, with its own probability; of another one: not."""
    network_rows = ModelRows(network, Bytes(), PREFIXES[:1], longest=60)
    prompt = "f 2: n=4\n+1\n"
    (exact, sure), (other, _) = network_rows.log_probabilities(
        [0, 0], [(prompt, "f 2"), (prompt, "g 3: n=1")]
    )
    whole = Bytes().encode(PREFIXES[0]) + Bytes().encode(prompt)
    answer = [*Bytes().encode("f 2"), Bytes.end]
    with torch.inference_mode():
        logs = torch.log_softmax(
            network.model.logits(network.model(torch.tensor([whole + answer]))[0][0]), -1
        )
    start = len(whole) - 1
    assert sure == pytest.approx(sum(float(logs[start + k, t]) for k, t in enumerate(answer)), rel=1e-3)
    best = logs[start : start + len(answer)].argmax(-1).numpy()
    assert exact == bool((best == np.array(answer)).all())
    assert not other
