"""Dicts, data frames and lists of which only some items are another in each run, or of which the keys or the
length are the same: what a cell shows of the rest is no chance. What looks like it and is chance stays so."""

import pytest

from tests.notebook.test_reach import FRAME, told

MADE = FRAME + "\nmade = pd.DataFrame(np.random.rand(4, 2), index=list('wxyz'), columns=['a', 'b'])"
NOISE = "df['noise'] = np.random.rand(4)"
APPLIED = "df['noise'] = df['v'].apply(lambda v: random.random())"
PERSON = "def person(i):\n    return {'id': i, 'vip': random.random() < .5}"
GROWN = "r = {}\nfor n in range(9):\n    r[n] = random.random()"
FIXED_FRAMES: list[list[str]] = [
    [MADE, "made.columns, made.dtypes, made.shape, list(made.columns), made.index"],
    [MADE, "made.head()", "made.describe()", "print(made.columns.tolist())\nmade.dtypes"],
    [MADE, "other = made.copy()\nother['g'] = list('abab')", "other['g'].value_counts()"],
    [
        MADE,
        "other = made.copy()\nother['g'] = list('abab')",
        "other.groupby('g').size(), list(other), len(other)",
    ],
    [FRAME, NOISE, "df['g'].value_counts(), df.groupby('g').size(), df.groupby('g')['v'].sum()"],
    [FRAME, APPLIED, "df[['g','v']].head()", "df.sort_values('noise')", "df.groupby('g').size()"],
    [FRAME, APPLIED, "df[df['v'] > 1][['g']], df.copy().head(2)['v']"],
    [FRAME, "made = pd.DataFrame({'id': range(6), 'r': np.random.rand(6)})\nmade.shape, made.dtypes"],
    [
        FRAME,
        "made = pd.DataFrame({'id': range(6), 'r': np.random.rand(6)})",
        "made['id'].tolist(), made.index, made.columns",
    ],
    [
        FRAME,
        PERSON,
        "c = pd.DataFrame([person(i) for i in range(9)])",
        "c['id'].tail(3)",
        "c.shape, list(c.columns)",
    ],
    [FRAME, "c = pd.DataFrame([{'id': i, 'r': random.random()} for i in range(9)])\nprint(c['id'], len(c))"],
    [FRAME, "df.sample(frac=1).columns"],
    [FRAME, NOISE, "df.index"],
]
FIXED_FRAMES += [
    [FRAME, NOISE, "both = pd.concat([df, df])", "df['v'], df.index"],
    [FRAME, NOISE, "more = pd.merge(df, df, on='g')\nn = 1", "df['v']"],
]
CHANCE_FRAMES: list[list[str]] = [
    [MADE, "made.head()", "made"],
    [MADE, "made.describe()"],
    [MADE, "made = made[made['a'] > .5]", "made.index"],
    [MADE, "made = made[made['a'] > .5]", "made.shape"],
    [MADE, "made = made.sort_values('a')", "made.index"],
    [MADE, "made.sort_values('a', inplace=True)", "made.index"],
    [MADE, "made = made.sample(3)", "made.index"],
    [MADE, "made = made.sample(frac=1)", "list(made.index)"],
    [MADE, "made = made[random.sample(['a', 'b'], 1)]", "made.columns"],
    [FRAME, "made = pd.DataFrame(np.random.rand(4, 2), columns=random.sample('abc', 2))", "made.columns"],
    [FRAME, "made = pd.DataFrame(np.random.rand(4, 2), index=random.sample('abcd', 4))", "made.index"],
    [FRAME, "made = pd.DataFrame({'x': df['v'].sample(3), 'y': [1, 2, 3]})", "made.index"],
    [FRAME, "s = df['v'].sample(3)", "made = pd.DataFrame({'x': s})", "made.index"],
    [FRAME, "def f(): return df['v'].sample(3)\nmade = pd.DataFrame({'x': f()})", "made.index"],
    [FRAME, NOISE, "df = df[df.noise > .5]", "df[['g']]"],
    [FRAME, NOISE, "df = df[df['noise'] > .5]", "df.groupby('g').size()"],
    [FRAME, NOISE, "df.sort_values('noise', inplace=True)", "df[['g']]"],
    [FRAME, NOISE, "df.sort_values('noise', inplace=True); print(1)", "df['g'].tolist()"],
    [FRAME, NOISE, "df.drop(df[df.noise > .5].index, inplace=True)", "df['g']"],
    [FRAME, NOISE, "df.loc[df.noise > .5, 'v'] = 7", "df['v']"],
    [FRAME, NOISE, "df.sort_values('noise')['v']"],
    [FRAME, NOISE, "df.sort_values(by=['g', 'noise'])['v']"],
    [FRAME, NOISE, "df.groupby('noise').size()"],
    [FRAME, NOISE, "df.groupby('g')['noise'].mean()"],
    [FRAME, NOISE, "df.set_index('noise')['v']"],
    [FRAME, NOISE, "df.set_index('noise').index"],
    [FRAME, NOISE, "df[df.noise > .5]['v']"],
    [FRAME, NOISE, "df.nlargest(1, 'noise')['v']"],
    [FRAME, NOISE, "df.copy()['noise']"],
    [FRAME, NOISE, "df.head(2)"],
    [FRAME, NOISE, "other = df\nother.sort_values('noise', inplace=True)", "df['v']"],
    [FRAME, "other = df", NOISE, "other.sort_values('noise', inplace=True)", "df['v']"],
    [FRAME, NOISE, "def f(df):\n    return df['v']\nf(df.sort_values('noise'))"],
    [FRAME, NOISE, "def f():\n    df.sort_values('noise', inplace=True)\nf()", "df['v']"],
    [FRAME, NOISE, "df.index = df['noise']", "df['v']"],
    [FRAME, NOISE, "for c in ['v', 'g']:\n    df[c] = np.random.rand(4)", "df['v']"],
    [FRAME, NOISE, "for c in ['v', 'g']:\n    df[c] = df['noise'] > .5", "df['v']"],
    [FRAME, NOISE, "if random.random() > .5:\n    df['w'] = 1", "df.columns"],
    [FRAME, NOISE, "if random.random() > .5:\n    del df['v']", "df.columns"],
    [FRAME, NOISE, "df.pop(random.choice(['v','g']))", "df.columns"],
    [FRAME, NOISE, "df[random.choice('xy')] = 1", "df.columns"],
    [FRAME, NOISE, "df.insert(0, random.choice('xy'), 1)", "df.columns"],
    [FRAME, "e = pd.DataFrame()\ne['a'] = df['v'].sample(2)\ne['b'] = 1", "e['b']"],
    [FRAME, NOISE, "df.drop_duplicates('noise')['v']"],
    [FRAME, NOISE, "df.sample(frac=1)['noise'].sum()"],
    [FRAME, NOISE, "df.sample(frac=1)['noise'].max()"],
    [FRAME, NOISE, "df = df.sample(frac=1)", "df['v']"],
    [FRAME, PERSON, "c = pd.DataFrame([person(i) for i in range(9)])", "c['vip'].tail(3)"],
    [FRAME, PERSON, "c = pd.DataFrame([person(i) for i in range(9)])", "c"],
    [
        FRAME,
        PERSON,
        "c = pd.DataFrame([person(i) for i in range(9) if random.random() > .5])",
        "c['id'].tail(3)",
    ],
    [FRAME, PERSON, "c = pd.DataFrame([person(i) for i in random.sample(range(9), 4)])", "c['id'].tail(3)"],
    [FRAME, PERSON, "c = pd.DataFrame([person(random.random()) for i in range(9)])", "c['id'].tail(3)"],
    [FRAME, PERSON, "c = pd.DataFrame([{random.choice('ab'): i} for i in range(9)])", "c.columns"],
    [
        FRAME,
        PERSON,
        "c = pd.DataFrame([{'a': i, **{random.choice('bc'): 1}} for i in range(9)])",
        "c.columns",
    ],
]
CHANCE_FRAMES += [
    [FRAME, NOISE, "def f(c): df.loc[c, 'v'] = random.randint(5, 9)\nx = list(map(f, [1]))", "df['v']"],
    [FRAME, NOISE, "def f(c): df[c] = random.random()\nx = list(map(f, ['v']))", "df['v']"],
]
FIXED_FRAMES += [
    [FRAME, "df.sample(frac=1).groupby('g').size()"],
    [FRAME, "mixed = df.sample(frac=1)", "mixed.groupby('g').size(), mixed.groupby('g')['v'].max()"],
]
CHANCE_FRAMES += [
    [FRAME, NOISE, "df.sample(frac=1).max()"],
    [FRAME, NOISE, "mixed = df.sample(frac=1)", "mixed.max()"],
    [FRAME, NOISE, "mixed = df.sample(frac=1)", "mixed.sort_index()"],
    [FRAME, NOISE, "mixed = df.sample(frac=1)", "mixed.groupby('noise').size()"],
    [FRAME, NOISE, "df.sample(frac=1).groupby('g')['noise'].max()"],
    [FRAME, "df.sample(frac=1).groupby('g').first()"],
    [FRAME, "df.sample(frac=.5).groupby('g').size()"],
    [FRAME, "df.sample(frac=1).groupby('g', sort=False).size()"],
    [FRAME, "df.sample(frac=1).groupby('g')['v'].cumsum()"],
    [FRAME, "df['v'] = [.1, .2, .3, .4]", "df.sample(frac=1).groupby('g')['v'].sum()"],
]
FIXED: list[list[str]] = [
    [
        (
            "h = []\nfor n in range(9):\n    h.append(random.random() if n else random.choice('ab'))"
            "\n    if n % 2 == 0:\n        print(n)"
        ),
        "len(h)",
    ],
    ["h = []\nfor n in range(9):\n    x = random.random()\n    h.append([x])\nprint(len(h))"],
    ["r = {}\nfor n in ['a', 'b']:\n    r[n] = random.random()", "list(r), sorted(r), len(r), r.keys()"],
    ["r = {}\nfor n in ['a', 'b']:\n    r[n] = random.random()\nprint(list(r))"],
    ["r = {'a': random.random(), 'b': 1}", "r['b'], list(r)"],
]
FIXED += [[GROWN, "best = max(r, key=r.get)\nbest", "list(r)"]]
CHANCE: list[list[str]] = [
    ["h = []\nfor n in range(9):\n    if random.random() > .5:\n        h.append(n)", "len(h)"],
    ["h = []\nfor n in range(9):\n    h.append(random.random())", "h[0]"],
    ["h = []\nfor n in range(9):\n    h.append(random.random())", "max(h)"],
    ["h = []\nfor n in range(random.randint(1, 9)):\n    h.append(n)", "len(h)"],
    ["h = []\nx = 0\nwhile x < .8:\n    x = random.random()\n    h.append(x)", "len(h)"],
    ["n = 0\nx = 0\nwhile x < .8:\n    x = random.random()\n    n += 1", "n"],
    ["n = 0\nx = 0\nwhile x < .8:\n    x = random.random()\n    n += 1\nprint(n)"],
    [
        "h = []\nfor n in range(9):\n    x = random.random()\n    if x > .8:\n        break\n    h.append(x)",
        "len(h)",
    ],
    [
        (
            "h = []\ndef f():\n    for n in range(9):\n        if random.random() > .5:\n            return"
            "\n        h.append(n)\nf()"
        ),
        "len(h)",
    ],
    ["h = []\nfor n in range(9):\n    h.append(random.random())", "h = [x for x in h if x > .5]", "len(h)"],
    ["h = set()\nfor n in range(9):\n    h.add(random.randint(1, 4))", "len(h)"],
    ["h = []\nfor n in range(9):\n    h.append(random.randint(1, 4))", "len(set(h))"],
    ["r = {}\nfor n in range(9):\n    r[random.randint(1, 4)] = n", "list(r)"],
    ["r = {}\nfor n in range(9):\n    r[random.randint(1, 4)] = n", "len(r)"],
    ["r = {}\nfor n in random.sample(range(9), 3):\n    r[n] = 1", "list(r)"],
    ["r = {}\nfor n in range(9):\n    if random.random() > .5:\n        r[n] = 1", "list(r)"],
    [GROWN, "r[0]"],
    [GROWN, "r.values()"],
    [GROWN, "r.pop(random.randint(0, 8)); n = 1", "list(r)"],
    [GROWN, "max(r, key=r.get)"],
    [GROWN, "sorted(r, key=r.get)"],
    [GROWN, "r = dict(sorted(r.items(), key=lambda x: x[1]))", "list(r)"],
    [GROWN, "r"],
    ["r = {'a': random.random(), 'b': 1}", "r['a']"],
    ["r = {'a': random.random(), 'b': 1}", "r.update({random.choice('xy'): 1})", "list(r)"],
    ["r = {'a': random.random(), 'b': 1}", "r |= {random.choice('xy'): 1}", "list(r)"],
    ["r = {'a': random.random(), 'b': 1}", "def f(r):\n    r[random.choice('xy')] = 1\nf(r)", "list(r)"],
    ["r = {'a': random.random(), 'b': 1}", "del r[random.choice('ab')]", "list(r)"],
    ["d = {}\nif random.random() > .5:\n    d['a'] = 1", "d"],
    ["d = {'a': 1, 'b': 2}\nif random.random() > .5:\n    del d['a']", "d"],
    ["d = {'a': 1, 'b': 2}\nif random.random() > .5:\n    del d['a']", "len(d)"],
    ["d = {'a': 1, 'b': 2}\ndel d[random.choice('ab')]", "list(d)"],
    ["def f():\n    if random.random() > .5:\n        return 1\n    print('a')\nf()"],
    [
        (
            "def f():\n    for n in range(3):\n        if random.random() > .5:\n            return 1"
            "\n    print('a')\nf()"
        )
    ],
    [
        "class P:\n    n = 1\n    def go(self): self.n = 5\np = P()\nif random.random() > .5:\n    p.go()",
        "p.n",
    ],
    ["x = [1, 2]\nif random.random() > .5:\n    x.sort(reverse=True)", "x"],
]
CHANCE += [
    [GROWN, "def f(n): r[random.random()] = n\nx = list(map(f, [1]))", "list(r)"],
    [GROWN, "def f(n):\n    global r\n    r = {random.random(): 1}\nx = list(map(f, [1]))", "list(r)"],
]
SCORES = "scores = {p: random.random() for p in ['a', 'b']}"
FIXED_FRAMES += [
    [FRAME, NOISE, "'noise' in df, [1 for c in df.columns]"],
    [FRAME, NOISE, "for c in df:\n    print(c)"],
    [FRAME, NOISE, "df.loc[:, ['g', 'v']], df.loc[1, 'v'], df.iloc[0]['g']"],
    [FRAME, NOISE, "df.loc[df['g'] == 'a', 'v'].sum()"],
    [FRAME, NOISE, "sub = df[df['v'] > 1]", "sub[['g']], sub.index"],
    [FRAME, NOISE, "sub = df[['g', 'v']]", "sub"],
    [FRAME, NOISE, "df.reset_index()['v']"],
]
CHANCE_FRAMES += [
    [FRAME, NOISE, "df.loc[:, ['g', 'noise']]"],
    [FRAME, NOISE, "df.loc[df['noise'] > .5, 'v']"],
    [FRAME, NOISE, "df.iloc[0]['noise']"],
    [FRAME, NOISE, "df.iloc[random.randint(0, 3)]['g']"],
    [FRAME, NOISE, "df.iloc[0]"],
    [FRAME, NOISE, "df.loc[1]"],
    [FRAME, NOISE, "row = df.iloc[0]", "row"],
    [FRAME, NOISE, "row = df.iloc[0]", "list(row)"],
    [FRAME, NOISE, "df.iloc[:, 2]"],
    [FRAME, NOISE, "df.loc[:, 'v':'noise']"],
    [FRAME, NOISE, "df.iloc[0, 2]"],
    [FRAME, NOISE, "sub = df[df['noise'] > .5]", "sub[['g']]"],
    [FRAME, NOISE, "sub = df[['g', 'noise']]", "sub"],
    [FRAME, NOISE, "sub = df[df['v'] > 1]", "sub"],
    [FRAME, NOISE, "sub = df[df['v'] > 1]", "sub['noise']"],
    [FRAME, NOISE, "sub = df[df['v'] > 1]", "sub = sub[sub.noise > .5]", "sub['g']"],
    [FRAME, NOISE, "sub = df", "sub['noise']"],
    [FRAME, NOISE, "x = df['noise'].mean()", "x"],
    [FRAME, NOISE, "x = df['noise']", "y = x + 1", "y"],
    [FRAME, NOISE, "df.noise[0] in df"],
    [FRAME, NOISE, "1 in df['noise']"],
    [FRAME, NOISE, "for c in df['noise']:\n    print(c)"],
    [FRAME, NOISE, "for c in df:\n    print(df[c])"],
]
FIXED += [
    [SCORES, "list(scores), len(scores), 'a' in scores"],
]
CHANCE += [
    [SCORES, "scores"],
    [SCORES, "scores['a']"],
    ["scores = {p: random.random() for p in ['a', 'b'] if random.random() > .5}", "list(scores)"],
    ["scores = {random.choice('ab'): 1 for p in ['a', 'b']}", "list(scores)"],
    ["scores = {p: 1 for p in random.sample('abc', 2)}", "list(scores)"],
    [SCORES, "random.choice('ab') in scores, random.choice('ac') in scores"],
    ["x = random.random()", "y = x + 1", "z = [y]", "z"],
]
GROWS = "h = []\nfor n in range(3):\n    h.append(random.random())"
CHANCE_FRAMES += [
    [FRAME, NOISE, "df.columns = random.sample(['a', 'b', 'c'], 3)", "df.columns"],
    [FRAME, NOISE, "df['v'], df['w'] = df['noise'], 1", "df['v']"],
    [FRAME, NOISE, "for i in range(4):\n    df.loc[i, 'g'] = random.choice('xy')", "df['g']"],
    [FRAME, NOISE, "frames = {'d': df}\nframes['d'].sort_values('noise', inplace=True)", "df['g']"],
]
CHANCE += [
    [GROWS, "h.extend([1] * random.randint(1, 3))", "len(h)"],
    [GROWS, "h += [1] * random.randint(1, 3)", "len(h)"],
    ["h = []\nfor n in range(9):\n    x = random.random()\n    h.append(x) if x > .5 else None", "len(h)"],
    ["h = []\nfor n in range(9):\n    x = random.random() > .5\n    x and h.append(n)", "len(h)"],
    ["h = []\n[h.append(n) for n in range(9) if random.random() > .5]; n = 1", "len(h)"],
    [SCORES, "for k in list(scores):\n    if scores[k] > .5:\n        del scores[k]", "list(scores)"],
]


@pytest.mark.parametrize("cells", FIXED_FRAMES, ids=str)
def test_other_parts_of_frames_are_no_chance(cells: list[str]) -> None:
    pytest.importorskip("pandas", reason="would have proved that data frames are followed")
    assert not told(cells)[-1]


@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize("cells", CHANCE_FRAMES, ids=str)
def test_frames_that_were_changed_by_chance_are_chance(cells: list[str]) -> None:
    pytest.importorskip("pandas", reason="would have proved that data frames are followed")
    assert told(cells)[-1]


@pytest.mark.parametrize("cells", FIXED, ids=str)
def test_keys_and_lengths_are_no_chance(cells: list[str]) -> None:
    assert not told(cells)[-1]


@pytest.mark.parametrize("cells", CHANCE, ids=str)
def test_keys_and_lengths_that_were_drawn_are_chance(cells: list[str]) -> None:
    assert told(cells)[-1]


def test_a_layer_that_learns_nothing_is_the_same_again() -> None:
    """Dropout in a cell that draws nothing; not while it trains, not what has weights or keeps a mean."""
    pytest.importorskip("torch", reason="would have proved that layers are followed")
    first = "import torch\nfrom torch import nn\ndrop = nn.Dropout(.5); drop(torch.ones(8))"
    assert not told([first, "drop.eval()\ndrop(torch.ones(8))"])[-1]
    assert told([first, "drop(torch.ones(8))"])[-1]
    keeps = "drop = nn.BatchNorm1d(2, affine=False); drop(torch.rand(4, 2))"
    assert told([f"{first}\n{keeps}", "drop.eval()\ndrop(torch.ones(4, 2))"])[-1]
    assert told([f"{first}\ndrop = nn.Linear(2, 2)", "drop.eval()\ndrop(torch.ones(4, 2))"])[-1]
