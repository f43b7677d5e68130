"""Programs that are, or nearly are, others: of a set that models are tested on, or of the same corpus.

Two are the same if their Python tokens are, but for layout, comments, docstrings and names of their own
choosing. How near two are is told by their runs of 13 tokens (runs of 13 words are what GPT-3's training
data was filtered by: Brown et al. 2020, arXiv:2005.14165, appendix C). One is near a program of a test set if
it has half of the runs that the other has: against some thousand programs that is counted exactly. In a
corpus it is near one before it if both have a large enough share of the runs that either has (Jaccard):
candidates are found by sketches (MinHash), and then counted exactly.
"""

import builtins
import hashlib
import io
import keyword
import tokenize
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable

from deskcheck.errors import InputError, MissingExtra

GRAM = 13
SHARE = 0.5
_PERMUTATIONS = 128
_LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
)
_KNOWN = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))


def tokens_of(code: str) -> list[str]:
    """The Python tokens without layout, comments and strings that are statements of their own. Of what is no
    Python, the words."""
    tokens: list[str] = []
    fresh = True  # at the beginning of a statement
    string: str | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type in _LAYOUT or token.type == tokenize.ENDMARKER:
                if token.type == tokenize.NEWLINE:
                    string, fresh = None, True  # a string alone: left out
                continue
            if string is not None:
                tokens.append(string)
                string = None
            if fresh and token.type == tokenize.STRING:
                string = token.string
            else:
                tokens.append(token.string)
            fresh = False
    except (tokenize.TokenError, SyntaxError):
        return code.split()
    return tokens


def renamed(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens with names of the program's choosing numbered by first sight; attributes keep theirs."""
    names: dict[str, str] = {}
    numbered = []
    before = ""
    for token in tokens:
        if token.isidentifier() and token not in _KNOWN and before != ".":
            token = names.setdefault(token, f"${len(names)}")
        numbered.append(token)
        before = token
    return tuple(numbered)


def runs_of(tokens: list[str]) -> set[tuple[str, ...]]:
    """All runs of `GRAM` tokens; of a shorter program, the whole."""
    return {tuple(tokens[at : at + GRAM]) for at in range(max(1, len(tokens) - GRAM + 1))}


def digest(text: str | bytes, size: int = 16) -> bytes:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=size).digest()


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
        grams = runs_of(tokens)
        for gram in grams:
            self._grams[hash(gram)].append(len(self._programs))
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
        for gram in runs_of(tokens):
            shared.update(self._grams.get(hash(gram), ()))
        for program, count in shared.most_common():
            name, grams = self._programs[program]
            if count >= SHARE * grams:
                return f"near a program of {name}"
        return None


class NearCopies:
    """Programs one after another, each compared with those before it that were none. Takes some kilobytes a
    program. Needs the extra ``[scale]``.

    share: of the runs that either of two has, how many both must have, above 0 and at most 1.
    """

    def __init__(self, share: float) -> None:
        if not 0 < share <= 1:
            raise InputError(
                f"near={share}: a share of what two programs have in common, above 0, at most 1."
            )
        try:
            from datasketch import MinHash, MinHashLSH
        except ImportError as error:
            raise MissingExtra("datasketch", "scale", "Finding near copies") from error
        self.share = share
        self._sketch = MinHash
        # What is found is counted exactly, so that too much is better than too little.
        self._index = MinHashLSH(threshold=min(share, 0.99), num_perm=_PERMUTATIONS, weights=(0.1, 0.9))
        self._same: dict[bytes, int] = {}
        self._runs: list[array[int]] = []

    def add(self, code: str) -> tuple[int, float] | None:
        """The number of the program before it, from 0 on, that it is a copy of, and the share that they have
        in common; 1 if they are the same but for names. None for one that is new: it has a number now."""
        tokens = tokens_of(code)
        same = digest("\0".join(renamed(tokens)), 16)
        if (number := self._same.get(same)) is not None:
            return number, 1.0
        texts = {"\0".join(run).encode("utf-8", "surrogatepass") for run in runs_of(tokens)}
        sketch = self._sketch(num_perm=_PERMUTATIONS, seed=1)
        sketch.update_batch(texts)
        runs = {int.from_bytes(digest(text, 8), "little") for text in texts}
        nearest = None
        for number in sorted(self._index.query(sketch)):
            common = len(runs.intersection(self._runs[number]))
            share = common / (len(runs) + len(self._runs[number]) - common)
            if share >= self.share and (nearest is None or share > nearest[1]):
                nearest = number, share
        if nearest is None:
            number = self._same[same] = len(self._runs)
            self._runs.append(array("Q", runs))
            self._index.insert(number, sketch)
        return nearest
