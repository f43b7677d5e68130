"""The words that generated programs are made of; `generated` says what stands after a `$`.

Every template is of bounded work and bounded size: lists are cut, products taken modulo, loops counted.
"""


def _many(item: str, count: int) -> str:
    """Items of a display that is longer than those that are made at once: over 30, of a dict over 15."""
    return ", ".join(item.replace("{}", str(n)) for n in range(count))


NAMES = {
    "I": "n", "F": "x", "B": "ok", "S": "s", "L": "xs", "M": "rows", "D": "d", "E": "groups", "T": "pair",
    "U": "seen", "Y": "data", "A": "buf", "R": "words", "G": "it", "H": "fn", "O": "obj", "N": "node",
    "K": "dq", "C": "tally", "P": "fixed", "Z": "any", "V": "vec", "J": "coll", "Q": "manager", "X": "source",
    "W": "co",
}  # fmt: skip
"""Type -> the stem of its variables' names. Q, W: only made, never kept in a variable."""

LITERALS = {
    "I": ["0", "1", "2", "3", "7", "-1", "10", "255", "True", "97", "2**64", "-(10**20)"],
    "F": ["0.5", "1.0", "-2.25", "1e300", "float('nan')", "float('inf')", "-0.0", "3.14"],
    "B": ["True", "False"],
    "S": ["''", "'a'", "'abc'", "'x y'", "'\\n'", "'é\\u2603'", "\"it's\"", "'tab\\t\\\\'", "'\\ud800'"],
    "L": ["[]", "[1]", "[3, 1, 2]", "[0, 0, 5, -1]", "list(range(6))"],
    "M": ["[]", "[[1], [2, 3]]", "[[0] * 2] * 2", "[[], [1]]"],
    "D": ["{}", "{'a': 1}", "{'k': 2, 'b': 0, '': 3}", "dict(x=1, y=2)"],
    "E": ["{}", "{1: [1], 2: []}", "{0: [5, 6]}"],
    "T": ["()", "(1,)", "(1, 2)", "(0, -5, 9)"],
    "U": ["set()", "{1}", "{3, 1, 2}"],
    "Y": ["b''", "b'ab'", "b'\\x00\\xff'", "bytes(3)"],
    "A": ["bytearray()", "bytearray(b'xyz')"],
    "R": ["[]", "['b', 'a']", "'one two three'.split()"],
    "G": ["iter([1, 2, 3])", "iter(())", "iter(range(4))", "iter({1: 0, 2: 0})", "itertools.count(5)"],
    "H": ["abs", "(lambda v: v + 1)", "operator.neg", "int.bit_length", "int"],
    "K": ["collections.deque()", "collections.deque([1, 2, 3], maxlen=4)"],
    "C": ["collections.Counter()", "collections.Counter([1, 1, 2])", "collections.defaultdict(int, {1: 2})"],
    "P": ["frozenset()", "frozenset({1, 2})"],
    "N": ["None", "[1, None]"],
    "Z": ["None", "...", "(1, [2])", "1j", "range(3)", "slice(1, None)", "int", "len", "{'a': [1, (2,)]}", "NotImplemented"],
}  # fmt: skip

EXPRESSIONS = {
    "I": [
        "($I + $I)", "($I - $I)", "($I * $I % 1009)", "($I // ($I or 1))", "($I % ($I or 7))", "-$I", "~$I",
        "($I % 100 << $I % 70)", "($I >> $I % 9)", "($I & $I)", "($I | $I)", "($I ^ $I)", "2 ** ($I % 80)",
        "len($L)", "len($S)", "len($D)", "sum($L)", "max($L, default=$I)", "min($I, $I)", "abs($I)",
        "($l1[$I % len($l1)] if $l1 else $I)", "($t1[-1] if $t1 else $I)", "$D.get($S, $I)", "$L.count($I)",
        "($I if $B else $I)", "($I or $I)", "($I and $I)", "(not $I)", "int($F1 if abs($F1) < 1e9 else 0)",
        "$H($I)", "next($G, $I)", "(lambda $!1: $!1 + $I)($I)", "(lambda $!1, *$!2, **$!3: $!1 + len($!2))($I, *$L)",
        "sum($!1 * 2 for $!1 in $L)", "sum(1 for $!1 in $L if $!1 > $I)", "ord($S[:1] or 'z')", "hash($I % 9)",
        "functools.reduce(lambda $!1, $!2: ($!1 + $!2) % 997, $L, $I)", "int(str($I % 10**9) + '7')", "len(str($I))",
        "divmod($I, $I or 3)[1]", "pow($I % 50, 3, 101)", "round($I, -1)", "($!1 := $I) + ($!2 := $I)",
        "[$I, $I, $I][$I % 3]", "{True: $I, False: $I}[$B]", "$o.value", "$o.step($I)", "len($U)", "len($M)",
        "sum(map(len, $M))", "sum(len($!1) for $!1 in $M)", "operator.add($I, $I)", "int.from_bytes($Y[:9], 'big')",
        "len([*$L, *$T])", "max($R, key=len, default='').count('a')", "$C[$I]", "len($K)", "operator.itemgetter(0)([$I])",
        "next(itertools.islice($G, 2, None), $I)", "bool($Z)", "len({**$D, $S: $I})", "min($L, default=$I)",
        "max($I, $I, key=lambda $!1: -$!1)", "functools.partial(max, $I)($I)", "sum($T)", "len($P | $U)", "$i", "$i",
        "chain_sum($N)", "memo($I % 20)", "$S.strip().lower().replace('b', 'aa').count('a')", "max(*$L, $I, $I)", "len({**$D, **$D})",
        "($I if $B and $I < $I or not $B else $I)", "everything(*$L[:2], $I, k=$I)[0][-1]", "int(array_of($L).sum())",
    ],
    "F": [
        "($F + $F)", "($F * 0.5)", "($I / 7)", "-$F", "float($I % 1000)", "round($I / 3, 2)", "($F - $I % 99)",
        "max($F, $F)", "abs($F)", "sum([$F, $F])", "($F if $B else $F)", "float('1e-5')", "($F // 2.0)",
    ],
    "B": [
        "$I < $I", "$I == $I", "$I <= $I < $I", "$I != $I", "$I in $L", "$I not in $U", "$S in $D", "not $B", "($B and $B)",
        "($B or $B)", "$L == $L", "$L is $L", "$S == $S", "$S.startswith($S)", "any($!1 > $I for $!1 in $L)",
        "all($!1 for $!1 in $L)", "isinstance($Z, (int, list))", "$F < $F", "$F != $F", "bool($L)", "$N is None",
        "$S.isalpha()", "$U <= $U", "$I % 2 == 0", "$I > $I > $I", "callable($Z)", "len($L) > 2", "$T < $T",
    ],
    "S": [
        "($S + $S)[:30]", "$S * 2", "$S[:5]", "$S[::-1]", "str($I)", "$S.upper()", "repr($L)", "f'{$i}-{$s!r:>6}'", "f'{$i:05d}|{$i + 1}'",
        "f'{$f:.2f}'", "'%s=%d' % ($S, $I)", "'{}:{}'.format($I, $S)", "','.join($R)", "''.join(sorted($S))", "$S.replace('a', 'bb')[:20]",
        "$S.strip()", "$S.title()", "chr(97 + $I % 26)", "($S if $B else $S)", "''.join(chr(97 + $!1 % 26) for $!1 in $L)", "str($T)",
        "repr($S)", "$S.ljust(4, '.')", "str($D)[:40]", "$S.partition('b')[0]", "f'{$l}{$i!r}'", "hex($I)", "''.join(map(str, $L))[:30]",
        "''.join(reversed($S))", "$S.encode('utf-8', 'replace').decode()", "repr($Y)", "bin($I % 99)", "max($R, default=$S)",
    ],
    "L": [
        "[$I, $I]", "[$I]", "$L[1:]", "$L[:3]", "$L[::-1]", "($L + $L)[:12]", "($L * 2)[:8]", "[*$L[:4], $I]", "sorted($L)",
        "sorted($L, key=lambda $!1: -$!1)", "sorted($L, reverse=True)", "list(reversed($L))", "list(map($H, $L))", "list(filter(None, $L))",
        "[$!1 + $I for $!1 in $L]", "[$!1 for $!1 in $L if $!1 % 2]", "[$!1 * $!2 % 50 for $!1 in $L[:3] for $!2 in $T]",
        "[($!1 := $I) + $!2 for $!2 in $L[:4]]", "list($T)", "list(range($I % 5))", "$L.copy()", "$L", "$L",
        "list(itertools.islice($G, 4))", "list(itertools.accumulate($L[:6]))", "sorted($U)", "list($D.values())", "[len($!1) for $!1 in $M]",
        "list(itertools.chain($L, $T))[:10]", "[$!1 for $!2 in $M for $!1 in $!2][:10]", "($M1[0] if $M1 else $L)",
        "[$!2 for $!1, $!2 in enumerate($L) if $!1]", "[$!1 - $!2 for $!1, $!2 in zip($L, $T)]", "list(data_of($Y))", "[*map(abs, $L)]",
        "($L if $B else $L)", "[$H($!1) for $!1 in $L[:3]]", "list($K)", "[$!3 for $!1 in $M[:2] for $!2 in [$!1] for $!3 in $!2 if $!3]",
        "[$!1 if $!1 > 0 else -$!1 for $!1 in $L]", "list(dict.fromkeys($L))", "$E.get($I, $L)", "[*$J][:6]", "walk($N)",
        "[$!1 for $!1 in $L if ($!2 := $!1 % 3) if $!2 < 2]", "list(zip(*[$L, $L]))[0:1] and $L",
        "[*$L[:3], $I, *$T]", "[$I, *$L[:4], *$T[:2]]", "[*($I for $!1 in range(2)), $I]", "sorted([*$L[:5], *$T])[::-1].copy()",
        "array_of($L).tolist()", "[" + _many("$i1 - {}", 33) + "][$I % 20:][:6]",
        "[" + _many("$i1 + {}", 32) + ", *$L[:2]][-6:]",
    ],
    "M": [
        "[$L, $L]", "[$L]", "[$l1, $l1]", "$M[::-1]", "($M + [$L])[:6]", "[[] for $!1 in range($I % 4)]", "[[$!1, $!1 + 1] for $!1 in $L[:3]]",
        "[list($!1) for $!1 in zip($L, $T)]", "[$!1[:] for $!1 in $M]", "[[0] * 2] * 3", "sorted($M, key=len)", "list($E.values())",
        "[[$!1 * $!2 for $!1 in range(2)] for $!2 in range(3)]", "[list($!2) for $!1, $!2 in itertools.groupby($L, key=lambda $!3: $!3 % 2)]",
    ],
    "D": [
        "{'a': $I, $S: $I}", "{$S: $I for $!1 in range(2)}", "{$!1: $!2 for $!2, $!1 in enumerate($S[:4])}", "dict($D)", "{**$D, 'z': $I}",
        "$D | {'m': $I}", "dict(zip($S[:3], $L))", "{$!1: len($!1) for $!1 in $R}", "dict(p=$I, q=$I)", "$D.copy()", "$D",
        "{$!1: $!2 for $!1, $!2 in $D.items() if $!2}", "collections.OrderedDict(a=$I, b=$I)", "{str($!1): $!1 for $!1 in $L[:4]}",
        "{**$D, $S: $I, **$D}", "{$S: $I, **$D, 'z': $I}", "dict(everything(*$T[:1], **$D)[1])",
        "{" + _many("'k{}': $i1 + {}", 18) + "}",
        "{**$D, " + _many("'k{}': $i1 - {}", 17) + ", **$D}",
    ],
    "E": ["{$I: $L}", "{$I: $L, $I: $L}", "{$!1: [$!1] for $!1 in $L[:3]}", "dict($E)", "{$I: $l1, $I: $l1}", "{**$E, $I: $L}",
          "{len($!1): $!1 for $!1 in $M}"],
    "T": ["($I, $I)", "($I,)", "tuple($L[:4])", "$T[::-1]", "($T + ($I,))[-4:]", "divmod($I, $I or 2)", "(*$T[:2], $I)", "$T[1:]",
          "tuple($!1 for $!1 in $L[:3])", "($T if $B else $T)", "next(zip($L, $L), ())", "Point($I, $I)", "Point($I, $I)._replace(x=$I)",
          "(*$T[:2], $I, *$L[:2])", "($I, *$T[:2])"],
    "U": ["{$I, $I}", "set($L)", "$U | $U", "$U & $U", "$U - {$I}", "$U ^ $U", "{$!1 % 5 for $!1 in $L}", "$U.copy()", "set($T)", "set($P)",
          "{$!1 for $!1 in $L if $!1 in $U}", "{*$U, $I, *$L[:3]}", "{$I, *$T}", "{" + _many("$i1 + {}", 32) + "}"],
    "P": ["frozenset($L)", "frozenset($U)", "$P | $P", "frozenset($!1 % 3 for $!1 in $L)"],
    "Y": ["$Y + $Y[:3]", "$Y[::-1]", "bytes($!1 % 256 for $!1 in $L)", "$S.encode('utf-8', 'replace')[:9]", "$Y[1:]", "bytes($A)[:9]", "$Y[:4] * 2"],
    "A": ["bytearray($Y)", "$A[:4]", "$A", "bytearray($I % 4)"],
    "R": ["$S.split()", "[$S, $S]", "sorted($R)", "[$!1.upper() for $!1 in $R]", "[str($!1) for $!1 in $L]", "$R[:2]", "list($D)", "sorted($D)",
          "sorted($R, key=len)", "[f'{$!1}!' for $!1 in $L[:3]]", "list($S[:4])", "$S.splitlines()"],
    "G": ["iter($L)", "($!1 + $I for $!1 in $L)", "map($H, $L)", "filter(None, $L)", "reversed($L)", "iter($T)", "itertools.chain($L, $T)",
          "itertools.islice(itertools.count($I), 4)", "itertools.accumulate($L)", "zip_first($L, $T)", "iter($D.values())", "iter($K)",
          "itertools.cycle([$I, $I])", "itertools.repeat($I, 3)", "itertools.takewhile(lambda $!1: $!1 < $I, $L)", "iter($Y)", "iter($J)",
          "($!1 for $!2 in $M for $!1 in $!2 if $!1)", "itertools.starmap(operator.add, zip($L, $L))", "iter(range($I % 5))",
          "map(operator.mul, $L, $T)", "itertools.compress($L, [1, 0, 1])", "itertools.dropwhile(bool, $L)", "iter(sorted($U))", "map(len, $M)"],
    "H": ["(lambda $!1: $!1 + $I)", "(lambda $!1, $!2=$I: $!1 - $!2)", "functools.partial(operator.add, $I)", "functools.partial(max, $I)",
          "(lambda $!1: $!1 if $!1 < $I else $I)", "[abs, int, $H][$I % 3]", "(lambda $!1: (lambda $!2: $!1 + $!2)($I))", "$L.count",
          "$o.step", "operator.methodcaller('bit_length')", "compose($H, $H)", "(lambda *$!1: sum($!1))", "{0: abs, 1: $H}[$I % 2]"],
    "K": ["collections.deque($L, maxlen=5)", "$K.copy()", "collections.deque([$I, $I])"],
    "C": ["collections.Counter($L)", "$C.copy()", "collections.defaultdict(int, {$I: $I})"],
    "N": ["[$I, $N]", "[$I, [$I, $N]]", "link($L[:5])"],
    "Z": ["$I", "$L", "$S", "$D", "$T", "$F", "$U", "$O", "$H", "$G", "$M", "[$Z, $Z]", "($Z, $Z)", "{'k': $Z}", "$Y", "$A", "$P", "$K", "$C", "$N", "$J",
          "$E", "type($I)", "range($I % 9)", "slice($I, $I)", "complex($I % 99, 1)", "[[$Z]]", "ValueError($I)", "Point($I, $L)", "memoryview($Y)",
          "enumerate($L)", "zip($L, $T)", "$D.items()", "$D.keys()", "object", "[$G, $G]", "{$I: $H}", "Point(x=$G, y=$O)",
          "array_of($L)", "array_of($L) * 2 + $I % 9", "array_of($L)[1:]", "frame_of($L)", "frame_of($L)['n']", "[array_of($L), *$M[:1]]",
          "everything(*$L[:2], $Z, **$D)", "{**$D, 'z': $Z}", "[$Z, *$L[:2], $Z]", "($Z, *$T[:2])"],
}  # fmt: skip

STATEMENTS = [
    # -- plain
    (6, "", "$=I = $I"),
    (4, "", "$=S = $S"),
    (4, "", "$=L = $L"),
    (2, "", "$=M = $M"),
    (2, "", "$=D = $D"),
    (1, "", "$=E = $E"),
    (2, "", "$=T = $T"),
    (1, "", "$=U = $U"),
    (1, "", "$=Y = $Y"),
    (1, "", "$=A = $A"),
    (1, "", "$=R = $R"),
    (2, "", "$=G = $G"),
    (2, "", "$=H = $H"),
    (3, "", "$=O = $O"),
    (1, "", "$=K = $K"),
    (1, "", "$=C = $C"),
    (1, "", "$=F = $F"),
    (1, "", "$=B = $B"),
    (1, "", "$=N = $N"),
    (3, "", "$=Z = $Z"),
    (2, "", "$=J = $J"),
    (2, "", "$=V = $V"),
    (4, "", "print($I, $S)"),
    (2, "", "print($L, $D)"),
    (1, "", "print(*$L, sep='-', end=';\\n')"),
    (1, "", "print($F, $T, $Y)"),
    (2, "", "$=I = $=I = $I"),
    (2, "", "$=L = $=L = $L"),
    (1, "", "$=I, $=I = $I, $I"),
    (1, "", "$=I, *$=L = [$I, *$L]"),
    (1, "", "*$=L, $=I = *$T, $I"),
    (1, "", "($=I, $=I), $=S = ($I, $I), $S"),
    (1, "", "[$=I, [$=I]] = [$I, [$I]]"),
    (1, "", "$=I, $=I = ($I for $!1 in range(2))"),
    (1, "", "$=I = $I; $=S = $S"),
    (1, "", "$+I: int = $I"),
    (1, "", "del $-I"),
    (1, "", "del $-L"),
    (1, "", "del $-O"),
    (1, "", "del $-G"),
    (1, "", "del $-Z"),
    (1, "", "pass"),
    (1, "", "assert $I == $I or True, $S"),
    (1, "", "$=L, $=L = $L, $L"),
    # -- changed in place
    (3, "", "$l.append($I)"),
    (2, "", "$l.extend($L[:3])"),
    (1, "", "$l.insert($I % 3, $I)"),
    (1, "", "$l.sort()"),
    (1, "", "$l.sort(key=lambda $!1: $!1 % 5, reverse=True)"),
    (1, "", "$l.reverse()"),
    (1, "", "$l1[:2] = $L[:3]"),
    (1, "", "$l1[::2] = [0] * len($l1[::2])"),
    (1, "", "del $l[1:3]"),
    (1, "", "del $l[5:]"),
    (1, "", "$l1.remove($l1[0]) if $l1 else None"),
    (2, "", "if $l1:\n    $=I = $l1.pop()"),
    (2, "", "if $l1:\n    $l1[$I % len($l1)] = $I"),
    (2, "", "if $l1:\n    $l1[-1] += $I"),
    (1, "", "if $l1:\n    $l1[0], $l1[-1] = $l1[-1], $l1[0]"),
    (1, "", "if len($l1) > 9:\n    $l1.clear()"),
    (2, "", "$m.append($L)"),
    (2, "", "if $m1:\n    $m1[0].append($I)"),
    (1, "", "if $m1:\n    $m1[-1] = $m1[0]"),
    (1, "", "if $m1:\n    $m1[$I % len($m1)] += [$I]"),
    (1, "", "$m1 and $m1.pop()"),
    (3, "", "$d[$S] = $I"),
    (1, "", "$d1['a'] = $d1.get('a', 0) + $I"),
    (1, "", "$d.update(a=$I, c=$I)"),
    (1, "", "$d.pop($S, None)"),
    (1, "", "$d.setdefault($S, $I)"),
    (1, "", "if $d1:\n    $=S, $=I = $d1.popitem()"),
    (1, "", "for $!1 in list($d1):\n    $d1[$!1] += 1\n    if $d1[$!1] % 2:\n        del $d1[$!1]"),
    (1, "", "if len($d1) > 8:\n    $d1.clear()"),
    (2, "", "$e.setdefault($I % 3, []).append($I)"),
    (1, "", "$e[$I] = $L"),
    (1, "", "$e.pop($I, None)"),
    (1, "", "$u.add($I)"),
    (1, "", "$u.discard($I)"),
    (1, "", "$u.update($L[:4])"),
    (1, "", "$u.intersection_update($L)"),
    (1, "", "$u.symmetric_difference_update({$I})"),
    (1, "", "$a.append($I % 256)"),
    (1, "", "$a.extend($Y)"),
    (1, "", "$a1[:1] = $Y[:2]"),
    (1, "", "del $a[3:]"),
    (1, "", "$r.append($S)"),
    (1, "", "$k.append($I)"),
    (1, "", "$k.appendleft($I)"),
    (1, "", "$k.rotate($I % 4)"),
    (1, "", "$k1 and $k1.popleft()"),
    (1, "", "$c[$I % 5] += 1"),
    (1, "", "$c.update({$I % 4: $I})"),
    (2, "", "$=S = ($S + '.')[-12:]"),
    (3, "", "$+I1 = $I\n$i1 += $I\n$i1 *= 2\n$i1 -= 1\n$i1 %= 1009"),
    (1, "", "$+I1 = $I\n$i1 //= $I or 3\n$i1 |= 8\n$i1 &= 255\n$i1 ^= $I\n$i1 <<= 2\n$i1 >>= 1\n$i1 **= 2"),
    (1, "", "$+F1 = $F\n$f1 += 1.5\n$f1 /= 2\n$f1 -= $I % 9"),
    (1, "", "$+S1 = $S\n$+S2 = $s1\n$s1 += 'z'\n$s1 *= 2\nprint($s1 == $s2)"),
    (2, "", "$+L1 = $L\n$+L2 = $l1\n$l1 += $L[:2]\n$l1 *= 2\n$l2.append($I)\ndel $l1[6:]"),
    (1, "", "$+T1 = $T\n$+T2 = $t1\n$t1 += ($I,)"),
    (1, "", "$+U1 = $U\n$+U2 = $u1\n$u1 |= {$I}\n$u1 &= $U\n$u1 -= {$I}\n$u1 ^= {1, 2}"),
    (1, "", "$+D1 = $D\n$+D2 = $d1\n$d1 |= {'n': $I}\n$d2['n2'] = $I"),
    (1, "", "$+Y1 = $Y\n$y1 += b'+'\n$+A1 = bytearray($y1)\n$a1 += b'!'\n$a1 *= 2\ndel $a1[4:]"),
    (1, "", "$+K1 = $K\n$k1 += $L[:2]\n$+C1 = collections.Counter($L)\n$c1 += collections.Counter($T)\n$c1 -= collections.Counter([1])"),
    (2, "", "$+Z = $+L = $L"),
    (1, "", "$=Z = [$l1, $l1]"),
    (1, "", "$!1 = []\n$!1.append($!1)\n$!1.append($I)\n$=Z = [$!1]\ndel $!1"),
    (1, "", "$!1 = {}\n$!1['self'] = $!1\n$!1['list'] = [$!1, $I]\n$=Z = $!1"),
    (1, "", "$!1 = [$I, None]\n$!2 = [$I, $!1]\n$!1[1] = $!2\n$=Z = $!2\n$!1[1] = None"),
    (1, "", "$!1 = ($L, $I)\n$!1[0].append($I)\n$=Z = $!1"),
    (1, "", "for $!1 in range(3):\n    $!2 = [$!1]\n    $!2 = {$!1: $!2}\n    $=Z = $!2"),
    (1, "", "$!1 = [[$I] for $!2 in range(3)]\n$!1 = $!1[1:]\n$!1.append($!1[0])\ndel $!1[0]\n$=M = $!1"),
    (1, "", "$+D: dict[str, int] = {**$D, $S: $I}"),
    (1, "", "$+L: list[int] | None = [$I, *$L[:3]]"),
    (1, "", "$=L, $=I = [*$L[:2], $I], $I"),
    (1, "", "$!1 = []\n$!2 = {}\nfor $!3 in range(25):\n    $!1.append($!3 * $I % 100)\n    $!2[str($!3)] = [$!3, *$!1[-2:]]\n$=L = $!1[:6]"),
    (1, "", "with contextlib.suppress(Exception):\n    $!1 = array_of($L)\n    $!2 = $!1[1:]\n    $!2[:1] = $I % 100\n    $!1 += 1\n    $!1.sort()\n    $=L = $!1.tolist()"),
    (1, "", "with contextlib.suppress(Exception):\n    $!1 = frame_of($L)\n    $!1['m'] = $!1['n'] * 2\n    $!2 = $!1[$!1['m'] > $I % 9]\n    $=I = len($!2)"),
    (1, "", "global_list.append($I)\nif len(global_list) > 6:\n    del global_list[:3]"),
    # -- iterators kept
    (3, "", "$=I = next($g, $I)"),
    (1, "", "$=G = iter($l1)\n$=I = next($g, 0)\n$l1.append($I)"),
    (1, "", "$!1 = {'it': $G, 'other': iter($L)}\n$=I = next($!1['it'], $I)\n$=I = next($!1['other'], $I)"),
    (1, "", "$!1 = [$G, $G]\nfor $!2 in $!1:\n    $=I = next($!2, $I)\n$=Z = $!1"),
    (1, "", "$!1 = enumerate($L, $I)\n$=Z = next($!1, None)\n$=Z = $!1"),
    (1, "", "$!1 = zip($L, $S, $T)\nfor $!2, $!3, $!4 in $!1:\n    print($!2, $!3, $!4)\n    break\n$=Z = $!1"),
    (1, "", "$!1, $!2 = itertools.tee($L[:4])\n$=I = next($!1, 0)\n$=L = list($!2)"),
    (1, "", "$!1 = iter($L)\nfor $!2, $!3 in zip($!1, $!1):\n    $=I = $!2 - $!3"),
    (1, "", "$!1 = itertools.product($L[:2], repeat=2)\n$=T = next($!1, (1, 2))\n$=Z = [$!1, itertools.permutations($T[:3])]"),
    (1, "", "for $!1, $!2 in itertools.groupby($L, key=lambda $!3: $!3 % 3):\n    print($!1, list($!2))"),
    # -- control
    (5, "", "if $B:\n    $:0.6"),
    (3, "", "if $B:\n    $:0.5\nelse:\n    $:0.5"),
    (2, "", "if $B:\n    $:0.4\nelif $B:\n    $:0.3\nelse:\n    $:0.3"),
    (5, "", "for $+I in range($I % 4 + 1):\n    $:3 loop"),
    (3, "", "for $+I in itertools.islice($L, 4):\n    $:3 loop"),
    (2, "", "for $+I in $L[:4]:\n    $:3 loop\nelse:\n    $:0.7"),
    (2, "", "for $+I, $+I in enumerate($L[:4]):\n    $:3 loop"),
    (2, "", "for $+S in $S[:3]:\n    $:2 loop"),
    (2, "", "for $+S, $+I in sorted($D.items()):\n    $:2 loop"),
    (2, "", "for $+I, $+I in zip($L[:3], $T):\n    $:2 loop"),
    (1, "", "for $+S, $+I in list($D.items())[:3]:\n    $:2 loop"),
    (1, "", "for $+L in $M[:3]:\n    $:2 loop"),
    (1, "", "for $+I in itertools.islice($G, 3):\n    $:3 loop"),
    (1, "", "for $+I in reversed($L[:3]):\n    $:2 loop"),
    (1, "", "for $+I in range(2):\n    for $+I in range(3):\n        $:4 loop"),
    (1, "", "for global_list[0:1] in ([$I], [$I]):\n    $:2 loop"),
    (1, "", "for $+I in range(3): print($I)"),
    (1, "", "for $!1 in $l1:\n    if len($l1) > 8:\n        break\n    $l1.append($I)"),
    (1, "", "for $!1 in list($l1):\n    $l1.remove($!1)\n    if $!1 > $I:\n        continue\n    $l1.append($!1 % 4)"),
    (3, "", "$!1 = 0\nwhile $!1 < 3:\n    $!1 += 1\n    $:3 loop"),
    (1, "", "$!1 = 0\nwhile $B and $!1 < 3:\n    $!1 += 1\n    $:2 loop\nelse:\n    $:0.5"),
    (1, "", "$!1 = 4\nwhile True:\n    $!1 -= 1\n    if not $!1:\n        break\n    $:3 loop"),
    (1, "", "while ($!1 := next($g, None)) is not None and $!1 < 20 and len(global_list) < 9:\n    global_list.append($!1)"),
    (3, "loop", "if $B:\n    break"),
    (2, "loop", "if $B:\n    continue"),
    (1, "loop", "break"),
    (2, "function", "if $B:\n    return $^"),
    (1, "function", "return $^"),
    # -- exceptions
    (3, "", "try:\n    $: try\nexcept (LookupError, ArithmeticError, ValueError):\n    $:0.4"),
    (2, "", "try:\n    $: try\nexcept Exception as $!1:\n    print(type($!1).__name__, $!1.args)"),
    (2, "", "try:\n    $: try\nexcept LookupError as $!1:\n    $:0.3\nexcept Exception:\n    $:0.3\nelse:\n    $:0.5\nfinally:\n    $:"),
    (1, "", "try:\n    try:\n        $: try\n    finally:\n        $:\nexcept Exception as $!1:\n    $=Z = $!1"),
    (1, "", "try:\n    try:\n        $: try\n        raise KeyError($I)\n    except KeyError as $!1:\n        raise ValueError($S) from $!1\nexcept ValueError as $!2:\n    print(type($!2.__cause__).__name__)\n    $=Z = $!2\nexcept Exception:\n    $:0.3"),
    (1, "", "try:\n    try:\n        1 // 0\n    except ZeroDivisionError:\n        $:\n        raise\nexcept ArithmeticError as $!1:\n    $=S = str($!1)"),
    (1, "", "try:\n    raise ExceptionGroup('eg', [ValueError($I), KeyError($S), ExceptionGroup('in', [ValueError(1)])])\nexcept* ValueError as $!1:\n    print(len($!1.exceptions))\n    $: plain\nexcept* KeyError:\n    $: plain"),
    (1, "", "try:\n    try:\n        raise ExceptionGroup('eg', [TypeError($I), OSError(2, 'x')])\n    except* OSError:\n        $: plain\nexcept ExceptionGroup as $!1:\n    print($!1.exceptions[0].args)"),
    (1, "", "try:\n    raise Failed($I)\nexcept Failed as $!1:\n    $=I = $!1.code"),
    (1, "", "for $!1 in range(3):\n    try:\n        if $!1 == $I % 3:\n            continue\n        if $B:\n            break\n        $:2 try\n    except Exception:\n        pass\n    finally:\n        $:3"),
    (2, "try", "raise ValueError($I)"),
    (2, "try", "if $B:\n    raise KeyError($S)"),
    (1, "try", "raise Failed($I) from None"),
    (3, "try", "$=I = $L[$I]"),
    (2, "try", "$=I = $D[$S]"),
    (2, "try", "$=I = $I // $I"),
    (1, "try", "$=I = int($S)"),
    (1, "try", "$l.remove($I)"),
    (1, "try", "$=I, $=I = $L"),
    (1, "try", "assert $B, $I"),
    (1, "try", "$=I = $L.index($I)"),
    (1, "try", "$=I = next($G)"),
    (1, "try", "$=Z = $Z + $Z"),
    (1, "try", "$=Z = len($Z)"),
    (1, "try", "$=Z = operator.getitem($Z, 0)"),
    (1, "try", "$=Z = {$I, $T, $P}"),
    (1, "try", "$=Z = {$I: 1, $Z: 2}"),
    (1, "try", "raise StopIteration($I)"),
    (1, "try", "$=I = undefined_name"),
    (1, "try", "[$I // $!1 for $!1 in $L]"),
    (1, "try", "$=L = [$!1 // $!2 for $!1 in $L for $!2 in $L]"),
    (1, "try", "sum(1 // $!1 for $!1 in $L)"),
    (1, "try", "$=L = sorted([$I, $S])"),
    (1, "", "if $I % 13 == 12:\n    raise ValueError($I)"),
    # -- with
    (3, "", "with $Q:\n    $:"),
    (2, "", "with $Q as $!1:\n    $:"),
    (1, "", "with contextlib.suppress(Exception):\n    $: try"),
    (1, "", "with $Q, $Q as $!1:\n    $:"),
    (1, "", "try:\n    with $Q:\n        $: try\n        raise LookupError($I)\nexcept Exception as $!1:\n    print(type($!1).__name__)"),
    (1, "", "with contextlib.nullcontext($I) as $+I:\n    $:"),
    (1, "loop", "with $Q:\n    if $B:\n        break\n    $:"),
    # -- match
    (1, "", "match $I % 4:\n    case 0:\n        $:0.3\n    case 1 | 2:\n        $:0.3\n    case $+I if $B:\n        $:0.3\n    case _:\n        $:0.3"),
    (1, "", "match $L:\n    case []:\n        $:0.3\n    case [$+I]:\n        $:0.3\n    case [$+I, *$+L]:\n        $:0.5"),
    (1, "", "match $Z:\n    case int($!1) | float($!1):\n        $:0.3\n    case str() as $!2:\n        $:0.3\n    case {'k': $!3, **$!4}:\n        $:0.3\n    case ($!5, $!6):\n        $:0.3\n    case None:\n        $:0.2"),
    (1, "", "match Point($I % 3, $I):\n    case Point(x=0, y=$+I):\n        $:0.3\n    case Point(1, $!1) if $!1 > $I:\n        $:0.3\n    case Point():\n        $:0.3"),
    (1, "", "match $D:\n    case {'a': 0 | 1 as $+I}:\n        $:0.3\n    case {'a': int($+I), **$+D}:\n        $:0.3\n    case _:\n        $:0.3"),
    (1, "", "match $O:\n    case object(value=$+I) if $i > 3:\n        $:0.5\n    case $!1:\n        $:0.5"),
    # -- functions here
    (2, "", "def $!1($+I, $+I=$I):\n    $:\n    return $^\n$=I = $!1($I)\n$=H = $!1"),
    (2, "", "def $!1($+I):  #! nested\n    nonlocal $~I\n    $:\n    return $^\n$=I = $!1($I)\n$=H = $!1"),
    (1, "", "def $!1($+I1):\n    def $!2($+I2):\n        nonlocal $~I\n        $:\n        return $I + $i2\n    $:\n    return $!2\n$=H = $!1($I)\n$=I = $h($I)"),
    (1, "", "def $!1($+I, $+L=[]):\n    $:\n    $l.append($I)\n    del $l[5:]\n    return len($l)\nprint($!1($I), $!1($I))"),
    (1, "", "def $!1($+I: int, $+L: 'list[int]' = [*$L[:2], $I]) -> int:\n    $:\n    return $^\n$=I = $!1($I)"),
    (1, "", "@tagged(*$T[:2], k=[$I, *$L[:2]])\ndef $!1($+I):\n    $:\n    return $^\n$=I = $!1($I)"),
    (1, "", "def $!1(*$+T, $+I=$I, **$+D):\n    $:\n    return $^\n$=I = $!1(*$T, **{'k': $I})"),
    (1, "", "def $!1():  #! generator\n    for $+I1 in range(3):\n        $:3 loop\n        yield $i1 + $I\n    return $I\n$=G = $!1()\n$=I = next($!1())"),
    (1, "", "$!1 = []\nfor $!2 in range(3):\n    $!1.append(lambda $!3: $!3 + $!2)\n$=L = [$!4($I) for $!4 in $!1]"),
    (1, "", "$!1 = {'add': lambda $!2, $!3: $!2 + $!3, 'sub': lambda $!2, $!3: $!2 - $!3}\nfor $!4 in $!1:\n    print($!4, $!1[$!4]($I, $I))"),
    (1, "", "class $!1:\n    total = $I\n    items = [$!2 * 2 for $!2 in range(3)]\n    def get(self):\n        return self.total + $I\n$=I = $!1().get()"),
    # -- objects
    (3, "", "$o.value = $I"),
    (3, "", "$o.value += $I"),
    (2, "", "print($o.value, $o.step($I))"),
    (1, "", "$=O = $o"),
    (1, "", "$!1 = $o.step\n$=I = $!1($I)"),
    (1, "", "$!1 = [$O, $O, $o]\n$!1[0].value = $I\n$=Z = $!1\n$=I = sum($!2.value for $!2 in $!1)"),
    (1, "", "setattr($o1, 'value', getattr($o1, 'value') + 1)"),
    (2, "", "$=V = $V + $V"),
    (1, "", "$=B = $V == $V"),
    (1, "", "$v[$I % 2] = $I\n$=I = $V[0]"),
    (1, "", "print($V, -$V, len($V), $V < $V, $I in $V)"),
    (1, "", "$!1 = $V\n$!1 += $V\n$!1 *= $I % 5"),
    (1, "", "for $+I in $J:\n    $:3 loop"),
    (1, "", "$=L = list($J)\n$=I = max($J, default=$I)"),
    (1, "", "$=L = [*$J, *$J]"),
    # -- generators
    (3, "generator", "yield $I"),
    (2, "generator", "$!1 = yield $I\nif $!1 is not None:\n    $:0.5"),
    (1, "generator", "$=Z = yield from $L[:3]"),
    (1, "generator", "yield from itertools.islice($G, 3)"),
    (1, "generator", "try:\n    yield $I\n    $: try\nexcept ValueError:\n    yield $I\nfinally:\n    $:"),
    (1, "generator", "with $Q:\n    yield $I"),
    (1, "generator", "print('got', (yield $I) is None, $I)"),
    # -- async
    (3, "async", "$=I = await $W"),
    (1, "async", "await pause($I % 3)"),
    (1, "async", "async for $+I in $X:\n    $:3 loop"),
    (1, "async", "$=L = [$!1 + 1 async for $!1 in $X]"),
    (1, "async", "async with AsyncGuard($I) as $+I:\n    $:"),
    (1, "async", "try:\n    await $W\n    $: try\nexcept Exception:\n    $:0.5"),
    (1, "async", "$=L = [await $W for $!1 in range(2)]"),
    (3, "", "$=I = run($W)"),
    (2, "module", "$=I = asyncio.run($W)"),
    (1, "module", "$=L = asyncio.run(gathered($W, $W))"),
]  # fmt: skip

DEFINITIONS: list[tuple[dict[str, str], str]] = [
    ({"I": "$!1($I, $L)", "H": "$!1"}, "def $!1($+I, $+L=()):\n    $+L = list($l)[:4]\n    $:\n    $:\n    return $^"),
    ({"I": "$!1($I)", "H": "$!1"}, "def $!1($+I):\n    $:\n    return $^"),
    ({"I": "$!1($I)", "H": "$!1"}, "def $!1($+I):\n    nonlocal $~I\n    $:\n    return $^"),
    ({"S": "$!1($S, $I)"}, "def $!1($+S, $+I, *, $+B=False):  #! ret=S\n    $:\n    return $^"),
    ({"L": "$!1($L)"}, "def $!1($+L):  #! ret=L\n    $:\n    return $^"),
    ({"L": "$!1($l)"}, "def $!1($+L1):  #! ret=L\n    $l1.append($I)\n    $:\n    del $l1[6:]\n    return $l1"),
    ({"T": "$!1($I, y=$I)"}, "def $!1($+I, /, y=$I, *$+T, z=2, **$+D):  #! ret=T\n    $:\n    return $^"),
    ({"D": "$!1($D)"}, "def $!1($+D):  #! ret=D\n    $:\n    return $^"),
    ({"I": "$!1($I % 6)"}, "def $!1($+I1, $+I2=0):\n    if $i1 <= 0:\n        return $i2\n    $:5\n    return $!1($i1 - 1, $i2 + 1) + $I"),
    ({"I": "$!1($I % 5)"}, "def $!1($+I1):\n    return 1 if $i1 < 2 else $!1($i1 - 1) + $!1($i1 - 2)"),
    ({"I": "$!1($M)"}, "def $!1($+Z1):\n    if isinstance($z1, list):\n        return sum($!1($!2) for $!2 in $z1[:4])\n    return $z1 if type($z1) is int else 1"),
    ({"I": "$!1($I % 4)"}, "def $!1($+I1):\n    return $!2($i1 - 1) if $i1 > 0 else $I\ndef $!2($+I2):\n    $:2\n    return $!1($i2 - 1) if $i2 > 0 else $I"),
    ({"H": "$!1($I)"}, "def $!1($+I1):\n    def $!2($+I2):\n        nonlocal $~I\n        $:\n        $=I = $I + $i2\n        return $I\n    $:\n    return $!2"),
    ({"H": "$!1($I)[0]"}, "def $!1($+I):\n    $+I2 = $I\n    def $!2($+I):\n        nonlocal $~I\n        $:\n        return $^\n    def $!3($+I):\n        return $I\n    $:\n    return $!2, $!3"),
    ({"G": "$!1($I)", "L": "list($!1($I))"}, "def $!1($+I):  #! generator\n    $:\n    yield $I\n    $:\n    yield $I"),
    ({"G": "$!1($L)", "L": "list($!1($L))", "I": "sum($!1($L))"}, "def $!1($+L):  #! generator\n    for $+I in $L[:4]:\n        $:3 loop\n        yield $I\n    return $I"),
    ({"G": "$!1()", "I": "len([*$!1()])"}, "def $!1():  #! generator\n    $!2 = yield from $!3($I)\n    print('inner gave', $!2)\n    yield $I\ndef $!3($+I):  #! generator\n    yield $I\n    $:\n    return $I"),
    ({"L": "$!1($I)"}, "def $!2($+I1):  #! generator\n    $!3 = 0\n    while $!3 < 4:\n        $!3 += 1\n        $!4 = yield $i1\n        if $!4 is not None:\n            $i1 = $i1 + $!4\n        $:4\ndef $!1($+I):\n    $!5 = $!2($I)\n    $!6 = [next($!5)]\n    try:\n        for $!7 in range(3):\n            $!6.append($!5.send($!7))\n        $:\n        $!6.append($!5.send($I))\n        $!6.append($!5.send($I))\n    except StopIteration as $!8:\n        $!6.append($!8.value is None)\n    return $!6"),
    ({"L": "$!1($I)"}, "def $!2():  #! generator\n    try:\n        while True:\n            try:\n                yield $I\n            except KeyError:\n                yield 99\n    finally:\n        print('closed')\n        $:\ndef $!1($+I):\n    $!3 = $!2()\n    $!4 = [next($!3), $!3.throw(KeyError('k'))]\n    $:\n    $!3.close()\n    try:\n        next($!3)\n    except StopIteration:\n        $!4.append(1)\n    return $!4"),
    ({"L": "$!1($I)"}, "def $!2($+I):  #! generator\n    $:\n    yield $I\n    raise Failed($I)\ndef $!1($+I):\n    $!3 = []\n    try:\n        for $!4 in $!2($I):\n            $!3.append($!4)\n            $:\n    except Failed as $!5:\n        $!3.append($!5.code)\n    return $!3"),
    ({"I": "$!2($I)", "H": "$!2"}, "def $!1($+H1):\n    @functools.wraps($h1)\n    def $!3(*$!4, **$!5):\n        print('before', len($!4))\n        $!6 = $h1(*$!4, **$!5)\n        $:\n        return $!6\n    return $!3\n@$!1\ndef $!2($+I):\n    $:\n    return $^"),
    ({"I": "$!2($I)", "H": "$!2"}, "def $!1($+I1):\n    def $!3($+H1):\n        def $!4($+I):\n            return $h1($I) + $i1\n        return $!4\n    return $!3\n@$!1($I)\n@$!1(1)\ndef $!2($+I):\n    $:\n    return $^"),
    ({"I": "$!1($I % 6)"}, "@functools.lru_cache(maxsize=None)\ndef $!1($+I1):\n    $:\n    return $i1 if $i1 < 2 else $!1($i1 - 1) + $!1($i1 - 2)"),
    ({"I": "$!1($I)"}, "def $!1($+I):\n    try:\n        $: try\n        return $I\n    except Exception as $!2:\n        $:\n        return $I\n    finally:\n        $:"),
    ({"I": "$!1($L)"}, "def $!1($+L):\n    for $+I in $L[:4]:\n        try:\n            $:3 try loop\n            if $B:\n                return $I\n        except (LookupError, ValueError, ArithmeticError):\n            continue\n        finally:\n            $:3\n    return $I"),
    ({"W": "$!1($I)"}, "async def $!1($+I):  #! async\n    $:\n    await pause($I % 3)\n    $:\n    return $^"),
    ({"W": "$!1($L)"}, "async def $!1($+L):  #! async\n    for $+I in $L[:3]:\n        $:3 loop\n        await pause(1)\n    return $^"),
    ({"W": "$!1()"}, "async def $!1():  #! async\n    async with AsyncGuard($I) as $+I:\n        $:\n        $=I = await $W\n    return $^"),
    ({"W": "$!1()"}, "async def $!1():  #! async\n    $+L1 = []\n    async for $+I1 in $X:\n        $l1.append($i1)\n        $:3 loop\n    else:\n        $:\n    return len($l1)"),
    ({"X": "$!1($I)"}, "async def $!1($+I):  #! async\n    $!2 = 0\n    while $!2 < 3:\n        $!2 += 1\n        await pause($!2 % 2)\n        $:3 plain\n        yield $!2 + $I"),
    ({"G": "$!1(contextlib.closing)", "Q": "$!2($I)"}, "@contextlib.contextmanager\ndef $!2($+I):\n    $:\n    try:\n        yield $I\n    except LookupError as $!3:\n        print('swallowed', $!3.args)\n    finally:\n        $:\ndef $!1($+Z):  #! generator\n    with $!2($I) as $!4:\n        yield $I\n    yield $I"),
]  # fmt: skip

CLASSES: list[tuple[dict[str, str], str]] = [
    ({"O": "$!1($I)"}, "class $!1:\n    count = 0\n    def __init__(self, $+I):\n        self.value = $I\n        $!1.count += 1\n    def step(self, $+I):\n        $:\n        self.value += 1\n        return self.value % 1000 + $I"),
    ({"O": "$!2($I)"}, "class $!1:\n    def __init__(self, $+I):\n        self.value = $I\n        self.seen = []\n    def step(self, $+I1):\n        self.seen = self.seen[-3:] + [$i1]\n        return self.more($I)\n    def more(self, $+I):\n        return $I\nclass $!2($!1):\n    def __init__(self, $+I):\n        super().__init__($I)\n        self.child = True\n    def more(self, $+I1):\n        $:\n        return super().more($I) + self.value % 7\n    @classmethod\n    def make(cls, $+I):\n        return cls($I)\n    @staticmethod\n    def helper($+I):\n        return $I"),
    ({"O": "$!1($I)"}, "class $!1:\n    __slots__ = ('value', 'next')\n    def __init__(self, $+I1, $+Z=None):\n        self.value, self.next = $i1, $z\n    def step(self, $+I):\n        $:\n        self.next = [self.value, $I]\n        return len(self.next)"),
    ({"O": "$!1($I)"}, "class $!1:\n    def __init__(self, $+I1):\n        self._value = $i1\n    @property\n    def value(self):\n        return self._value\n    @value.setter\n    def value(self, $+I1):\n        $:\n        self._value = $i1 % 500\n    def step(self, $+I1):\n        self.value = $i1\n        return self.value\n    def __repr__(self):\n        return f'<{self._value}>'"),
    ({"O": "$!2($I)"}, "class $!1:\n    def __init__(self, low):\n        self.low = low\n    def __set_name__(self, owner, name):\n        self.name = '_' + name\n    def __get__(self, obj, kind=None):\n        return self if obj is None else getattr(obj, self.name, self.low)\n    def __set__(self, obj, $+I1):\n        $:\n        setattr(obj, self.name, max(self.low, $i1))\nclass $!2:\n    value = $!1($I)\n    def __init__(self, $+I1):\n        self.value = $i1\n    def step(self, $+I):\n        $:\n        return self.value % 100 + $I"),
    ({"O": "$!1($I)"}, "class $!1:\n    def __init__(self, $+I1):\n        self.__dict__['value'] = $i1\n    def __getattr__(self, name):\n        if name.startswith('_'):\n            raise AttributeError(name)\n        return lambda *args: len(name) + len(args)\n    def __setattr__(self, name, $+Z1):\n        $:\n        self.__dict__[name] = $z1"),
    ({"O": "$!1($I)"}, "import dataclasses\n@dataclasses.dataclass(order=True)\nclass $!1:\n    value: int\n    tags: list = dataclasses.field(default_factory=list)\n    def step(self, $+I1):\n        $:\n        self.tags.append($i1)\n        del self.tags[3:]\n        return len(self.tags) + ($!1($I) < self)"),
    ({"O": "$!1($I)", "H": "$!1($I)"}, "class $!1:\n    def __init__(self, $+I1):\n        self.value = $i1\n    def __call__(self, $+I1):\n        $:\n        self.value ^= 1\n        return self.value + $i1\n    def step(self, $+I):\n        return self($I)\n    def __del__(self):\n        global_list.append(1)\n        del global_list[4:]"),
    ({"O": "$!2($I)"}, "class $!1(type):\n    made = []\n    def __new__(meta, name, bases, names):\n        meta.made.append(name)\n        return super().__new__(meta, name, bases, names)\nclass $!2(metaclass=$!1):\n    def __init__(self, $+I1):\n        self.value = $i1\n    def __init_subclass__(cls, **options):\n        super().__init_subclass__(**options)\n        cls.sub = True\n    def step(self, $+I):\n        $:\n        return $I + len($!1.made)\nclass $!3($!2):\n    pass"),
    ({"O": "$!1($I)", "L": "$!1($I)"}, "class $!1(list):\n    def __init__(self, $+I1):\n        super().__init__([$i1])\n        self.value = $i1\n    def step(self, $+I1):\n        $:\n        self.append($i1)\n        del self[4:]\n        return len(self)"),
    ({"O": "$!1($I)", "D": "$!1($I).as_dict()"}, "class $!1(dict):\n    def __init__(self, $+I1):\n        super().__init__(a=$i1)\n        self.value = $i1\n    def __missing__(self, key):\n        return self.value\n    def step(self, $+I):\n        $:\n        return self['zzz'] + $I\n    def as_dict(self):\n        return {**self}"),
    ({"V": "$!1($I, $I)"}, "@functools.total_ordering\nclass $!1:\n    def __init__(self, $+I1, $+I2):\n        self.x, self.y = $i1 % 1000, $i2 % 1000\n    def __add__(self, other):\n        $:\n        return $!1(self.x + other.x, self.y + other.y)\n    __radd__ = __add__\n    def __iadd__(self, other):\n        self.x += other.x\n        return self\n    def __imul__(self, $+I1):\n        self.y *= $i1\n        return self\n    def __neg__(self):\n        return $!1(-self.x, -self.y)\n    def __eq__(self, other):\n        return (self.x, self.y) == (other.x, other.y)\n    def __lt__(self, other):\n        $:\n        return (self.x, self.y) < (other.x, other.y)\n    def __hash__(self):\n        return self.x\n    def __len__(self):\n        return 2\n    def __getitem__(self, at):\n        if at > 1:\n            raise IndexError(at)\n        return (self.x, self.y)[at]\n    def __setitem__(self, at, $+I1):\n        setattr(self, 'xy'[at], $i1)\n    def __contains__(self, $+I1):\n        return $i1 == self.x\n    def __repr__(self):\n        return f'V({self.x}, {self.y})'"),
    ({"J": "$!1($I)", "G": "iter($!1($I))"}, "class $!1:\n    def __init__(self, $+I1):\n        self.left = $i1 % 4\n    def __iter__(self):\n        return self\n    def __next__(self):\n        if self.left <= 0:\n            raise StopIteration\n        self.left -= 1\n        $:\n        return self.left"),
    ({"J": "$!1($L)"}, "class $!1:\n    def __init__(self, $+L1):\n        self.items = $l1\n    def __iter__(self):  #! generator\n        for $+I1 in self.items[:3]:\n            $:3 loop\n            yield $i1"),
    ({"J": "$!1($I)"}, "class $!1:\n    def __init__(self, $+I1):\n        self.size = $i1 % 4\n    def __len__(self):\n        return self.size\n    def __getitem__(self, at):\n        $:\n        if at >= self.size:\n            raise IndexError\n        return at * 2"),
    ({"Q": "$!1($I)"}, "class $!1:\n    def __init__(self, $+I1):\n        self.value = $i1\n    def __enter__(self):\n        $:\n        return self\n    def __exit__(self, kind, error, traceback):\n        $:\n        return kind is not None and issubclass(kind, LookupError)"),
    ({"Q": "$!1()", "N": "$!1().chain($L[:4])"}, "class $!1:\n    depth = 0\n    def __enter__(self):\n        type(self).depth += 1\n        return self.depth\n    def __exit__(self, *problem):\n        type(self).depth -= 1\n        print('left', problem[0] is None)\n    def chain(self, items):\n        head = None\n        for item in items:\n            head = [item, head]\n            $:3\n        return head"),
    ({"Z": "$!2($L)"}, "class $!1:\n    def __init__(self, value, after=None):\n        self.value, self.after = value, after\nclass $!2:\n    def __init__(self, $+L1):\n        self.head = None\n        for $+I1 in $l1[:3]:\n            self.head = $!1($i1, self.head)\n            $:3\n        if self.head:\n            self.head.ring = self\n            self.reverse()\n    def reverse(self):\n        before, node = None, self.head\n        while node:\n            node.after, before, node = before, node, node.after\n        self.head = before"),
    ({"Z": "$!2($L)", "I": "$!2($L).depth()"}, "class $!1:\n    __slots__ = 'key', 'left', 'right'\n    def __init__(self, key):\n        self.key = key\n        self.left = self.right = None\nclass $!2:\n    def __init__(self, $+L1):\n        self.root = None\n        for $!3 in $l1[:4]:\n            self.root = self.insert(self.root, $!3)\n    def insert(self, node, key):\n        if node is None:\n            return $!1(key)\n        if key < node.key:\n            node.left = self.insert(node.left, key)\n        else:\n            node.right = self.insert(node.right, key)\n        return node\n    def depth(self, node=0):\n        if node == 0:\n            node = self.root\n        return 0 if node is None else 1 + max(self.depth(node.left), self.depth(node.right))"),
    ({"Z": "$!1.$!2", "I": "$!1.$!3.value"}, "import enum\nclass $!1(enum.IntEnum):\n    $!2 = 1\n    $!3 = 2\n    def step(self, $+I):\n        return self + $I"),
]  # fmt: skip

IMPORTS = ("asyncio", "collections", "contextlib", "functools", "itertools", "operator")

HEADER = (
    f"import {', '.join(IMPORTS)}"
    """

Point = collections.namedtuple("Point", "x y")
global_list = []


class Failed(Exception):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code
"""
)

PRELOADED = (*IMPORTS, "numpy", "pandas")
"""What is imported before any program, as far as it is installed."""

HELPERS = {
    "everything": """\
def everything(*items, **named):
    return items, named
""",
    "tagged": """\
def tagged(*tags, **named):
    def mark(function):
        function.tags = [*tags, *named.values()]
        return function

    return mark
""",
    "array_of": """\
try:
    import numpy
except ImportError:
    numpy = None


class plain(list):
    def tolist(self):
        return list(self)

    def sum(self):
        return sum(self)


def array_of(items):
    small = [item % 1000 for item in items if type(item) is int]
    return plain(small) if numpy is None else numpy.array(small, dtype="int64")
""",
    "frame_of": """\
try:
    import pandas
except ImportError:
    pandas = None


def frame_of(items):
    small = {"n": [item % 1000 for item in items if type(item) is int]}
    return small if pandas is None else pandas.DataFrame(small)
""",
    "chain_sum": """\
def chain_sum(node):
    total = 0
    while node:
        total += node[0]
        node = node[1]
    return total
""",
    "walk": """\
def walk(node):
    return [] if node is None else [node[0], *walk(node[1])]
""",
    "link": """\
def link(items):
    head = None
    for item in items:
        head = [item, head]
    return head
""",
    "memo": """\
def memo(n, known={}):
    if n not in known:
        known[n] = n if n < 2 else memo(n - 1) + memo(n - 2)
    return known[n]
""",
    "data_of": """\
def data_of(data):
    for byte in data:
        if byte:
            yield byte
""",
    "zip_first": """\
def zip_first(a, b):
    for x, _ in zip(a, b):
        yield x
""",
    "compose": """\
def compose(f, g):
    return lambda x: f(g(x))
""",
    "pause": """\
class pause:
    def __init__(self, times):
        self.times = times

    def __await__(self):
        while self.times > 0:
            self.times -= 1
            yield
        return 0
""",
    "run": """\
def run(coroutine):
    steps = 0
    while True:
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value
        steps += 1
""",
    "gathered": """\
async def gathered(*coroutines):
    return list(await asyncio.gather(*coroutines))
""",
    "AsyncGuard": """\
class AsyncGuard:
    def __init__(self, value):
        self.value = value

    async def __aenter__(self):
        await pause(1)
        return self.value

    async def __aexit__(self, kind, error, traceback):
        await pause(1)
        return kind is not None and issubclass(kind, LookupError)
""",
}
"""Functions and classes of our own that templates use, each put into a program that names it."""
