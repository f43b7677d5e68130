"""Programs that are, or nearly are, programs of a set that models are tested on.

Two are the same if their Python tokens are, but for layout, comments, docstrings and names of their own
choosing. One is near another if it has half of the runs of 13 tokens that the other has (runs of 13 words are
what GPT-3's training data was filtered by: Brown et al. 2020, arXiv:2005.14165, appendix C). Against sets of
some thousand programs that is counted exactly; sketches (MinHash) are for comparing a corpus with itself.
"""

import builtins
import hashlib
import io
import keyword
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable

GRAM = 13
SHARE = 0.5
_LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
)
_KNOWN = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))


def tokens_of(code: str) -> list[str]:
    """The Python tokens without layout, comments and strings that are statements of their own. Of what is no
    Python, the words."""
    found: list[str] = []
    fresh = True  # at the beginning of a statement
    held: str | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type in _LAYOUT or token.type == tokenize.ENDMARKER:
                if token.type == tokenize.NEWLINE:
                    held, fresh = None, True  # a string alone: left out
                continue
            if held is not None:
                found.append(held)
                held = None
            if fresh and token.type == tokenize.STRING:
                held = token.string
            else:
                found.append(token.string)
            fresh = False
    except (tokenize.TokenError, SyntaxError):
        return code.split()
    return found


def renamed(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens with names of the program's choosing numbered by first sight; attributes keep theirs."""
    names: dict[str, str] = {}
    found = []
    before = ""
    for token in tokens:
        if token.isidentifier() and token not in _KNOWN and before != ".":
            token = names.setdefault(token, f"${len(names)}")
        found.append(token)
        before = token
    return tuple(found)


def grams_of(tokens: list[str]) -> set[int]:
    """Hashes of all runs of `GRAM` tokens; of a shorter program, of the whole."""
    return {hash(tuple(tokens[at : at + GRAM])) for at in range(max(1, len(tokens) - GRAM + 1))}


class HeldOut:
    """The programs of some sets."""

    def __init__(self) -> None:
        self._same: dict[int, str] = {}
        self._grams: defaultdict[int, list[int]] = defaultdict(list)
        self._programs: list[tuple[str, int]] = []
        self._known: set[str] = set()
        self._digest = hashlib.sha256()

    def __len__(self) -> int:
        return len(self._programs)

    def add(self, name: str, code: str) -> None:
        """Another program of a set."""
        if code in self._known:
            return
        self._known.add(code)
        self._digest.update(code.encode("utf-8", "surrogatepass") + b"\0")
        tokens = tokens_of(code)
        self._same.setdefault(hash(renamed(tokens)), name)
        grams = grams_of(tokens)
        for gram in grams:
            self._grams[gram].append(len(self._programs))
        self._programs.append((name, len(grams)))

    @property
    def sha256(self) -> str:
        """Over the programs, in their order."""
        return self._digest.hexdigest()

    def near(self, code: str) -> str | None:
        """Why a program may not be learned from; None where it may."""
        tokens = tokens_of(code)
        if (name := self._same.get(hash(renamed(tokens)))) is not None:
            return f"the same as a program of {name}"
        shared = Counter[int]()
        for gram in grams_of(tokens):
            shared.update(self._grams.get(gram, ()))
        for program, count in shared.most_common():
            name, grams = self._programs[program]
            if count >= SHARE * grams:
                return f"near a program of {name}"
        return None
