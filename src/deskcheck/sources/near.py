"""Programs that equal or resemble others, in a set that models are tested on or in the same corpus.

Two programs are the same if they have the same Python tokens, ignoring layout, comments, docstrings and the
names that they define. Similarity is measured by grams, sequences of 13 tokens. (GPT-3's training data was
filtered by sequences of 13 words: Brown et al. 2020, arXiv:2005.14165, appendix C.)

A program is near a program of a test set if it has half of that program's grams (`HeldOut`); this is counted
exactly. In a corpus, a program is near an earlier one if (grams of both) / (grams of either), the Jaccard
similarity, is large enough (`NearCopies`). MinHash sketches find candidates, which are then counted exactly.
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

GRAM = 13  # tokens
SHARE = 0.5  # of the grams of a held-out program
_PERMUTATIONS = 128
_LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
)
_FIXED_NAMES = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))


def tokens_of(code: str) -> list[str]:
    """The Python tokens without layout, comments and docstrings: ``x = 1  # one -> ["x", "=", "1"]``.

    For a text that is not Python, its words.
    """
    tokens: list[str] = []
    at_start = True  # of a statement
    string: str | None = None  # that may be a whole statement, such as a docstring, which is left out
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type in _LAYOUT or token.type == tokenize.ENDMARKER:
                if token.type == tokenize.NEWLINE:
                    string, at_start = None, True
                continue
            if string is not None:
                tokens.append(string)
                string = None
            if at_start and token.type == tokenize.STRING:
                string = token.string
            else:
                tokens.append(token.string)
            at_start = False
    except (tokenize.TokenError, SyntaxError):
        return code.split()
    return tokens


def renamed(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens with names numbered by first occurrence: ``y = len(x.n) -> $0 = len($1.n)``, as tokens."""
    names: dict[str, str] = {}
    numbered = []
    before = ""
    for token in tokens:
        if token.isidentifier() and token not in _FIXED_NAMES and before != ".":
            token = names.setdefault(token, f"${len(names)}")
        numbered.append(token)
        before = token
    return tuple(numbered)


def grams_of(tokens: list[str]) -> set[tuple[str, ...]]:
    """All sequences of `GRAM` tokens. A shorter program is one sequence."""
    return {tuple(tokens[at : at + GRAM]) for at in range(max(1, len(tokens) - GRAM + 1))}


def digest(text: str | bytes, size: int = 16) -> bytes:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=size).digest()


class HeldOut:
    """The programs of sets that models are tested on. texts: name of the set and code of each."""

    def __init__(self, texts: Iterable[tuple[str, str]] = ()) -> None:
        self._same: dict[int, str] = {}
        self._grams: defaultdict[int, list[int]] = defaultdict(list)
        self._programs: list[tuple[str, int]] = []
        self.texts: list[tuple[str, str]] = []
        """Name and code of each program."""
        self._seen_codes: set[str] = set()
        self._digest = hashlib.sha256()
        for name, code in texts:
            self.add(name, code)

    def __len__(self) -> int:
        return len(self._programs)

    def add(self, name: str, code: str) -> None:
        """Add a program of a set."""
        if code in self._seen_codes:
            return
        self._seen_codes.add(code)
        self.texts.append((name, code))
        self._digest.update(code.encode("utf-8", "surrogatepass") + b"\0")
        tokens = tokens_of(code)
        self._same.setdefault(hash(renamed(tokens)), name)
        grams = grams_of(tokens)
        for gram in grams:
            self._grams[hash(gram)].append(len(self._programs))
        self._programs.append((name, len(grams)))

    @property
    def sha256(self) -> str:
        """Digest of all programs, in order."""
        return self._digest.hexdigest()

    def near(self, code: str) -> str | None:
        """The reason not to train on a program, ``near a program of mbpp``; None without a reason."""
        tokens = tokens_of(code)
        if (name := self._same.get(hash(renamed(tokens)))) is not None:
            return f"the same as a program of {name}"
        shared = Counter[int]()
        for gram in grams_of(tokens):
            shared.update(self._grams.get(hash(gram), ()))
        for program, count in shared.most_common():
            name, grams = self._programs[program]
            if count >= SHARE * grams:
                return f"near a program of {name}"
        return None


class NearCopies:
    """Programs of a corpus, each compared with the earlier ones that were not near copies themselves.

    Takes some kilobytes a program. Needs the extra ``[scale]``.

    share: the smallest Jaccard similarity of a near copy, above 0 and up to 1.
    """

    def __init__(self, share: float) -> None:
        if not 0 < share <= 1:
            raise InputError(f"near={share}: must be a share of common text, above 0 and up to 1.")
        try:
            from datasketch import MinHash, MinHashLSH
        except ImportError as error:
            raise MissingExtra("datasketch", "scale", "Finding near copies") from error
        self.share = share
        self._sketch = MinHash
        # Candidates are counted exactly, so it is better to find too many than too few.
        self._index = MinHashLSH(threshold=min(share, 0.99), num_perm=_PERMUTATIONS, weights=(0.1, 0.9))
        self._same: dict[bytes, int] = {}
        self._grams: list[array[int]] = []

    def add(self, code: str) -> tuple[int, float] | None:
        """(number of the earlier program that this one copies, their similarity).

        The similarity is 1 if they differ only in names. None for a new program, which gets the next number,
        from 0.
        """
        tokens = tokens_of(code)
        same = digest("\0".join(renamed(tokens)), 16)
        if (number := self._same.get(same)) is not None:
            return number, 1.0
        texts = {"\0".join(gram).encode("utf-8", "surrogatepass") for gram in grams_of(tokens)}
        sketch = self._sketch(num_perm=_PERMUTATIONS, seed=1)
        sketch.update_batch(texts)
        grams = {int.from_bytes(digest(text, 8), "little") for text in texts}
        nearest = None
        for number in sorted(self._index.query(sketch)):
            common = len(grams.intersection(self._grams[number]))
            similarity = common / (len(grams) + len(self._grams[number]) - common)
            if similarity >= self.share and (nearest is None or similarity > nearest[1]):
                nearest = number, similarity
        if nearest is None:
            number = self._same[same] = len(self._grams)
            self._grams.append(array("Q", grams))
            self._index.insert(number, sketch)
        return nearest
