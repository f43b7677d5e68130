"""Hugging Face models as steppers, beside `generate` on the same weights; and models behind an interface."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import pytest

from deskcheck.cli import app
from deskcheck.notation import state_text
from deskcheck.notation.forms.explained import EXPLAINED
from deskcheck.notation.layout import program_text, step_prompt
from deskcheck.recording import InputError, Mode, Program, Recording
from deskcheck.teach.pretrained.opening import step_model
from deskcheck.teach.small.stepper import true_states
from deskcheck.tracer import Granularity
from tests.ask.conftest import record_here
from tests.teach import families
from tests.teach.conftest import Recorded, call

torch = pytest.importorskip("torch", reason="no torch: would show that Hugging Face models can be stepped")
pytest.importorskip("peft", reason="no peft: would show that adapters can be stepped")

from tokenizers.processors import TemplateProcessing  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from deskcheck.teach.pretrained.prompts import StepPrompts  # noqa: E402
from deskcheck.teach.pretrained.transformer import Transformer  # noqa: E402
from deskcheck.teach.sft import served_template  # noqa: E402

CODE = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n"
LONG = "def g(a, b):\n    words = ['one', 'two']\n    words.append(a + b)\n    return words\n"
TOKENIZERS = {"bpe": families.bpe, "unigram": families.unigram}
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}[{{ message['role'] }}]\n{{ message['content'] }}[/]"
    "{% endfor %}{% if add_generation_prompt %}[assistant]\n{% endif %}"
)


def saved(folder: Path, kind: str = "bpe", **more: Any) -> Path:
    """A Llama of random weights with fewer heads of keys than of queries, and its tokenizer."""
    named = {"bos_token": "<s>", "unk_token": "<unk>"} if kind == "unigram" else {}
    families.saved(TOKENIZERS[kind](), folder, **named)
    torch.manual_seed(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        eos_token_id=tokenizer.eos_token_id,  # else 2, which may be a word
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        **({"hidden_size": 32, "intermediate_size": 64, "initializer_range": 0.3} | more),
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=TOKENIZERS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp(request.param), request.param)


def recorded(code: str = CODE, entry: str = "f", arguments: str = "(3)") -> Recording:
    program = Program(id=entry, code=code, mode=Mode.CALL, entry=entry, arguments=arguments)
    return record_here(program, Granularity.LINE)


def prompts() -> list[tuple[Recording, str, str]]:
    """(recording, prompt, a guess): of two programs, of different lengths."""
    found = []
    for one in (recorded(), recorded(LONG, "g", "(1, 23)")):
        states = [state_text(moment) for moment in true_states(one)]
        code = one.program.code.splitlines()
        found += [(one, step_prompt(code, state), state) for state in states[:-1]]
    return found


def generated(folder: Path, tokens: list[int], most: int) -> list[int]:
    """What transformers' own greedy decoding writes, without a draft, a batch or anything kept."""
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    end = AutoTokenizer.from_pretrained(folder).eos_token_id
    with torch.inference_mode():
        out = network.generate(
            torch.tensor([tokens]), max_new_tokens=most, do_sample=False, eos_token_id=end, pad_token_id=end
        )
    return [int(token) for token in out[0, len(tokens) :]]


def test_answers_are_those_of_generate(model: Path) -> None:
    """Token for token, whatever is asked beside it and whatever is guessed."""
    asked = prompts()[::3]
    tokenizer = AutoTokenizer.from_pretrained(model)
    with step_model(str(model), explain=False, arguments={}) as opened:
        rows = opened.read([program_text(one.program) for one, _, _ in asked], 190)
        answers = rows.ask({n: (prompt, guess) for n, (_, prompt, guess) in enumerate(asked)})
        again = rows.ask({n: (prompt, answers[n].text) for n, (_, prompt, _) in enumerate(asked)})
    for number, (one, prompt, _) in enumerate(asked):
        tokens = tokenizer(program_text(one.program) + prompt)["input_ids"]
        written = generated(model, tokens, answers[number].tokens)
        assert len(written) == answers[number].tokens > 0
        told = [token for token in written if token != tokenizer.eos_token_id]
        decode = tokenizer.backend_tokenizer.decode
        assert answers[number].text == decode([*tokens, *told])[len(decode(tokens)) :]
        # Of an answer without end the guess decides how far beyond the limit it goes.
        short, long = sorted((answers[number].text, again[number].text), key=len)
        assert long.startswith(short[:-4])
    assert sum(a.passes for a in again.values()) < sum(a.passes for a in answers.values())


def test_a_right_answer_is_found_right_and_another_wrong(model: Path) -> None:
    asked = prompts()[:2]
    opened = Transformer(str(model), device="cpu", dtype="float32")
    rows = opened.read([program_text(one.program) for one, _, _ in asked], 190)
    # The token that it writes as its fourth ends an answer from now on.
    tokens = [opened.prompts.tokens(program_text(one.program), prompt) for one, prompt, _ in asked]
    fourth = [generated(model, some, 4)[3] for some in tokens]
    opened.ends = torch.tensor([opened.prompts.tokenizer.end, *fourth])
    told = rows.ask({n: (prompt, "") for n, (_, prompt, _) in enumerate(asked)})
    texts = [(prompt, told[n].text) for n, (_, prompt, _) in enumerate(asked)]
    assert all(one.ended for one in told.values())
    assert rows.exact([0, 1], texts) == [True, True]
    assert rows.exact([0, 1], [(prompt, text + " ") for prompt, text in texts]) == [False, False]


def test_a_program_is_read_once_whatever_is_asked(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokens that the network runs over for a step are those of the state, not those of the program."""
    one = recorded("# " + "much " * 60 + "\n" + CODE)
    state = state_text(next(true_states(one)))
    opened = Transformer(str(model))
    fed: list[int] = []
    run = opened.run

    def counted(some: Any) -> Any:
        fed.append(len(some.feeds) * max(map(len, some.feeds)))
        return run(some)

    monkeypatch.setattr(opened, "run", counted)
    rows = opened.read([program_text(one.program)] * 3, 4096)
    program = fed[0]
    assert len(fed) == 1
    assert program > 100
    rows.ask({0: (step_prompt(one.program.code.splitlines(), state), state)})
    assert fed[1] < program / 2
    rows.add(opened.read([program_text(one.program)], 4096))
    rows.keep([3, 0])
    assert len(rows) == 2


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_adapters_are_stepped_on_their_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are those of the base with the adapters; where the base is gone, that is said."""
    from peft import LoraConfig, get_peft_model

    base = saved(tmp_path / "base")
    torch.manual_seed(3)
    config = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)
    adapted = get_peft_model(AutoModelForCausalLM.from_pretrained(base), config)
    adapted.save_pretrained(tmp_path / "adapters")
    AutoTokenizer.from_pretrained(base).save_pretrained(tmp_path / "adapters")
    one, prompt, _ = prompts()[1]
    plain, answer = [
        Transformer(str(tmp_path / name))
        .read([program_text(one.program)], 150)
        .ask({0: (prompt, "")})[0]
        .text
        for name in ("base", "adapters")
    ]
    assert answer != plain
    tokens = AutoTokenizer.from_pretrained(base)(program_text(one.program) + prompt, return_tensors="pt")
    with torch.inference_mode():
        out = adapted.eval().generate(**tokens, max_new_tokens=20, do_sample=False)
    told = AutoTokenizer.from_pretrained(base).decode(out[0, tokens["input_ids"].shape[1] :])
    assert answer.startswith(told[:-4])
    (tmp_path / "base").rename(tmp_path / "gone")
    refused = pytest.raises(InputError, match=r"adapters: is not a model that can be loaded: .*base")
    with refused, step_model(str(tmp_path / "adapters"), explain=False, arguments={}):
        pass


def test_models_that_cannot_be_stepped_are_refused(tmp_path: Path) -> None:
    """Of a state space; one whose attention reaches less far than a prompt; arguments that do not exist."""
    from transformers import MambaConfig, MambaForCausalLM, MistralConfig, MistralForCausalLM

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "vocab_size": 700}
    MambaForCausalLM(MambaConfig(**sizes)).save_pretrained(tmp_path / "mamba")
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 16}
    MistralForCausalLM(MistralConfig(**sizes, **heads, sliding_window=30)).save_pretrained(tmp_path / "near")
    for name in ("mamba", "near"):
        families.saved(families.bpe(), tmp_path / name)
    one, prompt, guess = prompts()[0]
    with pytest.raises(InputError, match="mamba does not store keys and values"), _opened(tmp_path / "mamba"):
        pass
    with _opened(tmp_path / "near") as opened:
        rows = opened.read([program_text(one.program)], 2048)
        with pytest.raises(InputError, match="reaches only 30"):
            rows.ask({0: (prompt, guess)})
    with pytest.raises(InputError, match="takes device and dtype"), _opened(tmp_path / "near", colour="red"):
        pass
    with (
        pytest.raises(InputError, match="device=abacus: cannot be used"),
        _opened(tmp_path / "near", device="abacus"),
    ):
        pass
    with pytest.raises(InputError, match="dtype=seven: unknown"), _opened(tmp_path / "near", dtype="seven"):
        pass
    with pytest.raises(InputError, match="nowhere: is not a model that can be loaded"), _opened("hf/nowhere"):
        pass
    with pytest.raises(InputError, match="leave --explain"), step_model("nano", explain=True, arguments={}):
        pass


def _opened(name: object, **arguments: str) -> Any:
    return step_model(str(name), explain=False, arguments=arguments)


def test_with_an_explanation_a_prompt_is_what_ask_sends(tmp_path: Path) -> None:
    """In the model's chat template, or plain where it has none; what is shared is a beginning of it."""
    folder = saved(tmp_path)
    one, prompt, _ = prompts()[0]
    program = program_text(one.program)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = EXPLAINED["dynamic"] + program + prompt
    opened = Transformer(str(folder), explain=True)
    assert opened.prompts.tokens(program, prompt) == tokenizer(text)["input_ids"]
    with pytest.raises(InputError, match="taught jumps"):
        opened.refuse_untaught("dynamic", [1, 4])
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    prompts_ = StepPrompts(str(folder), explain=True)
    tokens = prompts_.tokens(program, prompt)
    assert tokenizer.decode(tokens) == f"[user]\n{text}[/][assistant]\n"
    shared = prompts_.shared(program)
    assert tokens[: len(shared)] == shared
    assert tokenizer.decode(shared) == f"[user]\n{EXPLAINED['dynamic']}{program}"
    fenced = tokenizer("So:\n```\nf 2: n=3\n```\n")["input_ids"]
    assert prompts_.answer(tokens, fenced) == "f 2: n=3"


@pytest.mark.parametrize("begins", [False, True])
def test_a_server_gives_the_tokens_of_lessons(begins: bool, tmp_path: Path) -> None:
    """By the template that is written for it; with the token that begins a text, where the tokenizer has one."""
    made = families.bpe()
    if begins:
        made.add_special_tokens(["<s>"])
        at = made.token_to_id("<s>")
        made.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", at)])
    families.saved(made, tmp_path, **({"bos_token": "<s>"} if begins else {}))
    asked = StepPrompts(str(tmp_path), explain=False)
    assert bool(asked.tokenizer.begin) is begins
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    one, prompt, _ = prompts()[0]
    program = program_text(one.program)
    told = tokenizer.apply_chat_template(
        [{"role": "user", "content": program + prompt}],
        chat_template=served_template(asked.tokenizer),
        add_generation_prompt=True,
        return_dict=True,
    )
    assert list(told["input_ids"]) == asked.tokens(program, prompt)


# -- behind an interface ------------------------------------------------------------------------------


class Interpreter(BaseHTTPRequestHandler):
    """An OpenAI-compatible server that knows answers by heart. two: two prompts were on their way at once."""

    answers: dict[str, str]
    asked: list[dict[str, Any]]
    now = 0
    lock = Lock()
    two = Event()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.lock:
            Interpreter.now += 1
            self.asked.append(body)
            if self.now == 2:
                self.two.set()
        self.two.wait(20)  # the first is answered when another has come
        text = self.answers.get(body["messages"][-1]["content"], "I do not know.")
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        told = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        data = json.dumps({**told, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        with self.lock:
            Interpreter.now -= 1

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Interpreter.answers, Interpreter.asked = {}, []
    served = ThreadingHTTPServer(("127.0.0.1", 0), Interpreter)
    Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_port}/v1"
    served.shutdown()
    served.server_close()


def test_a_server_is_asked_for_all_programs_at_once(record: Recorded, server: str) -> None:
    """Through the real client; one program comes to its end, of the other one step is wrong."""
    pytest.importorskip("openai", reason="no openai: would show that a server can be stepped")
    runs = record(call("a", CODE, "(2)"), call("b", CODE, "(4)"))
    program, code = program_text(recorded().program), CODE.splitlines()
    runs_told = [
        [state_text(moment) for moment in true_states(recorded(arguments=arguments))]
        for arguments in ("(2)", "(4)")
    ]
    for before, after in [pair for states in runs_told for pair in pairwise(states)]:
        Interpreter.answers[program + step_prompt(code, before)] = after + "\n"
    states = runs_told[1]
    Interpreter.answers[program + step_prompt(code, states[5])] = states[6].replace("total=1", "total=7")
    asked = ["models", "step", str(runs), "--model", "openai-api/local/heart", "-M", f"base_url={server}"]
    shown = CliRunner().invoke(app, [*asked, "-M", "api_key=x", "--json"], catch_exceptions=False)
    told = json.loads(shown.stdout)
    ended = {run["id"]: run["first"] for run in told["runs"]}
    assert ended["a"] is None
    assert ended["b"] == "value"
    assert Interpreter.two.is_set()
    assert {body["temperature"] for body in Interpreter.asked} == {0}
    assert all(body["messages"][-1]["content"].startswith(program) for body in Interpreter.asked)
    with pytest.raises(InputError, match="--jump: jumps need likelihoods"):
        CliRunner().invoke(app, [*asked, "-M", "api_key=x", "--jump", "1,2"], catch_exceptions=False)
    refused = CliRunner().invoke(app, [*asked, "-M", "api_key"])
    assert refused.exit_code == 2
    assert "give NAME=VALUE" in refused.stderr
