"""The words that generated programs are made of: names by type, names of functions, strings."""

NAMES = {
    "int": (
        "n k m x y z a b c i j p q total count size step score width height depth limit start "
        "first last left right best low high amount number value result rest units points age year level "
        "offset shift speed price cost sum_ parts position index place length gap steps extra bonus"
    ).split(),
    "float": "half mean ratio share rate part scale".split(),
    "bool": "found ok done even odd flag big small ready same valid changed".split(),
    "str": (
        "s t w text word name key label line letter token code city color prefix suffix out message "
        "title tag answer left_part start_word joined"
    ).split(),
    "list": (
        "xs ys items values numbers row scores data points parts queue stack results found left_over "
        "prices sizes steps counts ages totals picked kept"
    ).split(),
    "strs": "words names parts letters lines tokens keys labels tags cities pieces".split(),
    "grid": "grid rows table matrix board cells".split(),
    "pair": "pair point both result bounds ends".split(),
    "dict": "counts table index prices ages scores stock seen_at totals lookup places votes".split(),
    "set": "seen unique chosen marks visited used".split(),
    "char": "c ch letter char mark symbol".split(),
    "item": "x y v item value number entry element".split(),
    "loop": "i j k n step turn round_ at index".split(),
    "row": "row line values part".split(),
    "key": "key name word k letter".split(),
}
"""Kind of a variable -> names for it."""

VERBS = (
    "count sum find make get check update scale shift merge pick build rate fold trim mix join walk".split()
)
NOUNS = (
    "items score total words steps parts value row text limit points pairs letters price ages list word size"
).split()
SHORT = "f g h solve run main compute process step work task calc test_it apply".split()
HELPERS = "helper add double inner part rule change move bump adjust grow shrink twice next_one".split()

WORDS = (
    "a b ab abc cat dog red blue sun moon tea key box map one two ten up go on it sky pen cup hat fox bee "
    "oak ice egg ant owl bus car day data list node loop tree leaf code test name word item left right stop "
    "good time line apple mango lemon hello world green stone river light"
).split()
MESSAGES = ("bad", "empty", "too big", "negative", "no value", "stop", "not found", "odd", "limit")
