"""Makes the calls of prompts again from the text of the prompts alone, and compares what comes.

    python prompt_alone.py < questions.jsonl      # {"prompt": ..., "answer": ...}
    {"id": ..., "came": "same" | "another: ..." | "not made: ..."}

Uses nothing of deskcheck: neither its reader of values nor its scoring. The files that a prompt shows become
modules; what they import and the prompt does not show fails when it is used. Not made are calls that hold
what this file does not build (iterators, bound methods of foreign objects, most text forms).
"""

import ast
import builtins
import collections
import importlib
import json
import re
import sys
import types
from typing import Any

FENCE = re.compile(r"^(?P<head>[^\n]*):\n```python\n(?P<code>.*?)\n```$", re.DOTALL | re.MULTILINE)
PIECE = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
    r"|(?P<method><method (?P<called>\w+) of )"
    r"|(?P<fn><(?P<what>built-in function|function|class) (?P<name>(?:[\w.']|<\w+>)+)(?:#\d+)?(?P<more> (?=\w+=)|>))"
    r"|(?P<again><(?P<of>(?:[\w.]|<\w+>)+?) ?#(?P<n>\d+)(?: again)?>)|(?P<bare><object>)"
    r"|(?P<local>\.<\w+>\.)|(?P<number>#\d+)(?=\()|(?P<end>>)"
)


class NotMade(Exception):
    pass


class Missing:
    """What is imported and not shown."""

    def __init__(self, name: Any) -> None:
        self.__dict__["name"] = name

    def __getattr__(self, name: Any) -> Any:
        if name in ("__isabstractmethod__", "__path__", "__all__", "__spec__", "__wrapped__"):
            raise AttributeError(name)
        return Missing(f"{self.name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]):
            return args[0]  # a decorator
        if not args:
            return self
        raise NotMade(f"{self.name} is used and not shown")

    def __mro_entries__(self, bases: Any) -> Any:
        return ()

    def __instancecheck__(self, obj: Any) -> Any:
        return False


class Rest(dict[str, Any]):
    """Builtins, and what a text names and the prompt does not show."""

    def __missing__(self, name: Any) -> Any:
        return Missing(name)


class Named:
    """A function that only exists while another one runs."""

    def __init__(self, name: Any) -> None:
        self.__qualname__ = name


def binds(node: Any) -> Any:
    """Names that a statement assigns to."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


class Prompt:
    def __init__(self, text: Any) -> None:
        mine = text.rpartition("\n\nNow yours.\n\n")[2]
        program, _, question = mine.rpartition("\n\nCall: ")
        self.call, _, rest = question.partition("\n")
        self.spaces: dict[str, Any] = {}
        self.files = {}
        for found in FENCE.finditer(program):
            head = found["head"].removesuffix(" (what does not matter here is left out)")
            name = "program" if head == "Program" else head.removeprefix("File ").removesuffix(".py")
            self.files[name.replace("/", ".").removesuffix(".__init__")] = found["code"]
        for name in self.files:
            self.module(name)
        if "Globals when the call is made:" in rest:
            raise NotMade("globals")
        self.texts = {
            found["head"].partition(" ")[2].removesuffix(">"): found["code"]
            for found in FENCE.finditer(rest)
            if found["head"].startswith("<")
        }
        self.known: dict[str, Any] = {}
        self.answering = False

    # -- code --------------------------------------------------------------------------------------

    def module(self, name: Any) -> Any:
        if name in self.spaces:
            return self.spaces[name]
        made: Any = types.ModuleType(name)
        made.__package__ = name
        self.spaces[name] = made
        code = self.files[name]
        if "def __lt__" not in code:  # cut out: it did not run
            code = re.sub(r"^ *@functools.total_ordering\n", "", code, flags=re.MULTILINE)
        vars(made)["__builtins__"] = Rest(vars(builtins) | {"__import__": self.importing(name)})
        made.__getattr__ = lambda name: Missing(name)
        exec(compile(code, name, "exec", dont_inherit=True), vars(made))
        for each in [*vars(made).values()]:
            if getattr(each, "__abstractmethods__", None) and each.__module__ == name:
                each.__abstractmethods__ = frozenset()  # those that did not run are cut out
        return made

    def importing(self, module: Any) -> Any:
        def find(name: Any, space: Any = None, local: Any = None, wanted: Any = (), level: Any = 0) -> Any:
            if level:
                parts = module.split(".")
                package = parts if self.is_package(module) else parts[:-1]
                name = ".".join([*package[: len(package) - level + 1], *([name] if name else [])])
            if any(each == name or each.startswith(f"{name}.") for each in self.files):
                if name in self.files:
                    return self.module(name)
                made: Any = types.ModuleType(name)
                made.__getattr__ = lambda name: Missing(name)
                for each in self.files:
                    if each.startswith(f"{name}."):
                        setattr(made, each.removeprefix(f"{name}.").partition(".")[0], self.module(each))
                return made
            if name.partition(".")[0] in sys.stdlib_module_names:
                return builtins.__import__(name, None, None, wanted, 0)
            return Missing(name)

        return find

    def is_package(self, module: Any) -> Any:
        return any(each.startswith(f"{module}.") for each in self.files)

    def named(self, name: Any) -> Any:
        """A function or class by its qualified name: of the program, or one whose text stands below."""
        plain = name.replace(".<locals>", "")
        if name in ("NoneType", "function"):
            return {"NoneType": type(None), "function": types.FunctionType}[name]
        if name in self.texts:
            if name not in self.known:
                self.known[name] = None
                self.known[name] = self.made(self.texts[name], name)
            if self.known[name] is None:
                raise NotMade("a circle of texts")
            return self.known[name]
        for space in self.spaces.values():
            found = space
            for part in plain.split("."):
                found = vars(found).get(part) if hasattr(found, "__dict__") else None
            if found is not None and not isinstance(found, Missing):
                return found
        if self.answering and ".<locals>." in name:
            return Named(name)
        first, _, last = name.rpartition(".")
        try:
            return getattr(importlib.import_module(first or "builtins"), last)
        except (ImportError, AttributeError):
            raise NotMade(f"{name} is nowhere") from None

    def made(self, text: Any, name: Any) -> Any:
        """The function or class of a text, with what the lines below it say."""
        notes = [line[2:] for line in text.splitlines() if line.startswith("# ")]
        space = {"__name__": "texts", "__builtins__": Rest(vars(builtins))}
        later = []
        for note in notes:
            if " is the module " in note:
                target, _, module = note.partition(" is the module ")
                space[target] = importlib.import_module(module)
            elif " is " in note.partition(" = ")[0]:
                target, _, value = note.partition(" is ")
                space[target] = self.named(value)
            else:
                target, _, value = note.partition(" = ")
                if "." in target and target.startswith("self."):
                    pass  # a base
                elif "." in target:
                    later.append((target.partition(".")[2], value))
                else:
                    space[target] = self.value(ast.parse(self.python(value), mode="eval").body)
        tree: Any = ast.parse(text)
        for other in self.texts:
            last = other.rpartition(".")[2]
            if other != name and last.isidentifier():
                uses = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
                if last in uses and last not in space:
                    space[last] = self.named(other)
        for module in self.spaces.values():
            for each, value in vars(module).items():
                if not each.startswith("__"):
                    space.setdefault(each, value)
        if isinstance(tree.body[0], ast.Expr):
            return eval(compile(ast.Expression(tree.body[0].value), "text", "eval"), space)
        if isinstance(tree.body[0], ast.ClassDef):
            noted = dict(note.split(" = ", 1) for note in notes if " = " in note)
            bases = [noted.get(ast.unparse(base).partition("[")[0]) for base in tree.body[0].bases]
            for place, base in enumerate(bases):
                if base is not None:
                    space[f"_base{place}"] = self.named(base)
                    tree.body[0].bases[place] = ast.Name(f"_base{place}", ast.Load())
            later = [each for each in later if each[1] not in bases]
            told = {attribute for attribute, _ in later}
            tree.body[0].body = [node for node in tree.body[0].body if not binds(node) & told] or [ast.Pass()]
            ast.fix_missing_locations(tree)
        exec(compile(tree, "text", "exec", dont_inherit=True), space)
        made: Any = space[next(node.name for node in tree.body if hasattr(node, "name"))]
        for attribute, value in later:
            setattr(made, attribute, self.value(ast.parse(self.python(value), mode="eval").body))
        made.__qualname__ = name
        return made

    # -- values ------------------------------------------------------------------------------------

    def python(self, text: Any) -> Any:
        """Text of values that Python's parser reads: objects as calls of ``_o(number, 'Class')(...)``."""

        def change(found: Any) -> Any:
            if found["fn"]:
                return f"_f({found['name'].strip(chr(39))!r}{')' if found['more'] == '>' else ', '}"
            if found["method"]:
                return f"_m({found['called']!r}, "
            if found["end"]:
                return ")"
            if found["again"]:
                return f"_a({found['n']}, {found['of']!r})"
            if found["bare"]:
                return "object()"
            if found["local"]:
                return "._L_."
            if found["number"]:
                return f"_N{found['number'][1:]}_"
            return found[0]

        return PIECE.sub(change, text)

    def value(self, node: Any) -> Any:
        parts: Any = getattr(node, "args", ())
        match node:
            case ast.Tuple(elts=items):
                return tuple([self.value(item) for item in items])
            case ast.List(elts=items):
                return [self.value(item) for item in items]
            case ast.Set(elts=items):
                return {self.value(item) for item in items}
            case ast.Dict(keys=keys, values=values):
                return {self.value(k): self.value(v) for k, v in zip(keys, values, strict=True)}
            case ast.Call(func=ast.Name(id="_f"), keywords=state):
                made = self.named(parts[0].value)
                for each in state:
                    self.value(each.value)  # what it closes over stands below its text, too
                return made
            case ast.Call(func=ast.Name(id="_m")):
                return getattr(self.value(parts[1]), parts[0].value)
            case ast.Call(func=ast.Name(id="_a")):
                number, name = (part.value for part in parts)
                if number not in self.objects and name == "object":
                    self.objects[number] = object()
                if number not in self.objects:
                    raise NotMade(f"#{number} is nowhere written out")
                return self.objects[number]
            case ast.Call(func=function, args=args, keywords=keywords):
                return self.called(ast.unparse(function), args, keywords)
            case ast.Name(id="nan" | "inf" as name):
                return float(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.Name() | ast.Attribute():
                return self.named(ast.unparse(node).replace("._L_.", ".<locals>."))
        return ast.literal_eval(node)

    def called(self, name: Any, args: Any, keywords: Any) -> Any:
        name, _, number = name.partition("_N")
        name = name.replace("._L_.", ".<locals>.")
        if name in ("set", "frozenset", "range", "slice", "bytearray") and not number:
            return getattr(builtins, name)(*map(self.value, args))
        kind = self.named(name)
        if name == "object":
            made = object()
            self.objects[int(number.strip("_") or -len(self.objects) - 1)] = made
            return made
        if isinstance(kind, type) and issubclass(kind, BaseException):
            return kind(*map(self.value, args))
        if not isinstance(kind, type):
            raise NotMade(f"{name} is no class")
        if name.startswith("functools.partial") and number and int(number.strip("_")) in self.objects:
            return self.objects[int(number.strip("_"))]
        if name.startswith("functools.partial"):
            fields = {k.arg: self.value(k.value) for k in keywords}
            made = kind(fields["func"], *fields["args"], **fields["keywords"])
            self.objects[int(number.strip("_") or -len(self.objects) - 1)] = made
            return made
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return kind(**{k.arg: self.value(k.value) for k in keywords})
        if not number and not self.answering and kind.__module__ not in (*self.spaces, "texts"):
            return kind(*map(self.value, args))  # Decimal('1.5')
        return self.object(kind, int(number.strip("_")) if number else -len(self.objects) - 1, args, keywords)

    def object(self, kind: Any, number: Any, args: Any, keywords: Any) -> Any:
        if number in self.objects:
            return self.objects[number]
        if getattr(kind, "__abstractmethods__", ()):
            kind.__abstractmethods__ = frozenset()
        base: Any = next(
            (b for b in (collections.OrderedDict, dict, list, set, collections.deque) if issubclass(kind, b)),
            None,
        )
        plain = next((b for b in (tuple, frozenset, str, int, float) if issubclass(kind, b)), None)
        if plain is not None:
            made = plain.__new__(kind, self.value(args[0]))
        else:
            made = (base or object).__new__(kind)
        self.objects[number] = made
        fields = {k.arg: self.value(k.value) for k in keywords}
        if base is collections.deque:
            base.__init__(made, self.value(args[0]) if args else (), fields.pop("maxlen", None))
        elif base is not None and issubclass(base, dict):
            for key, value in (self.value(args[0]) if args else {}).items():
                base.__setitem__(made, key, value)
        elif base is list:
            list.extend(made, self.value(args[0]) if args else [])
        elif base is set:
            set.update(made, self.value(args[0]) if args else [])
        factory = fields.pop("default_factory", None) if issubclass(kind, collections.defaultdict) else None
        if factory is not None:
            made.default_factory = factory
        for name, value in fields.items():
            self.put(made, name, value)
        return made

    def put(self, made: Any, name: Any, value: Any) -> Any:
        for base in type(made).__mro__:
            if isinstance(vars(base).get(name), types.MemberDescriptorType):
                vars(base)[name].__set__(made, value)
                return
        object.__getattribute__(made, "__dict__")[name] = value

    def run(self) -> Any:
        """(What the call returns, or makes; the arguments' objects by number)"""
        self.answering = False
        self.objects: dict[int, Any] = {}
        name = self.call.partition("(")[0]
        if name.endswith(".<locals>"):
            raise NotMade("inner function")
        tree = ast.parse(self.python("_" + self.call[len(name) :]), mode="eval").body
        args = [self.value(arg) for arg in tree.args]
        keywords = {k.arg: self.value(k.value) for k in tree.keywords}
        owner, _, last = name.rpartition(".")
        function: Any = None if owner else self.named(name)
        if owner:
            held = vars(self.named(owner)).get(last) or vars(self.named(owner)).get(
                f"_{owner.lstrip('_')}{last}"
            )
            if isinstance(held, Missing):
                function = self.bare(owner, last)
            elif isinstance(held, property):
                function = held.fget if len(args) == 1 else held.fset
            elif isinstance(held, classmethod):
                whole = args and isinstance(args[0], type)
                function = held.__func__ if whole else getattr(self.named(owner), last)
            else:
                function = self.named(f"{owner}.{last}")
        result = function(*args, **keywords)
        return (args[0] if last == "__init__" or name == "__init__" else result), dict(self.objects)

    def bare(self, owner: Any, name: Any) -> Any:
        """A method without its decorators, as these are not shown."""
        for module, code in self.files.items():
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.ClassDef) and node.name == owner.rpartition(".")[2]:
                    for inner in node.body:
                        if isinstance(inner, ast.FunctionDef) and inner.name == name:
                            inner.decorator_list = []
                            space = vars(self.spaces[module])
                            held: dict[str, Any] = {}
                            exec(compile(ast.Module([inner], []), module, "exec"), space, held)
                            return held[name]
        raise NotMade(f"{owner}.{name} is not shown")

    def expected(self, answer: Any, arguments: Any) -> Any:
        """The objects that the answer writes down."""
        self.answering = True
        self.objects = {}
        return self.value(ast.parse(self.python(answer), mode="eval").body), dict(self.objects)


def fields(obj: Any) -> Any:
    found = {}
    for base in type(obj).__mro__:
        for name, member in vars(base).items():
            if (
                isinstance(member, types.MemberDescriptorType)
                and base.__module__ not in sys.stdlib_module_names
            ):
                try:
                    found[name] = member.__get__(obj)
                except AttributeError:
                    pass
    try:
        found |= object.__getattribute__(obj, "__dict__")
    except AttributeError:
        pass
    return found


PLAIN = (int, float, complex, str, bytes, bool, type(None), range, slice, type(...), type(NotImplemented))


def differs(a: Any, b: Any, numbers_a: Any, numbers_b: Any, pairs: Any) -> Any:
    """Where two results differ; None: they are the same. numbers: id of an object that the question shows ->
    its number."""
    if isinstance(a, (types.FunctionType, type, types.BuiltinFunctionType, Named)):
        return (
            None
            if a is b or getattr(a, "__qualname__", 0) == getattr(b, "__qualname__", 1)
            else f"{a} and {b}"
        )
    if isinstance(a, types.MethodType) and isinstance(b, types.MethodType):
        if a.__func__ is not b.__func__:
            return "methods"
        a, b = a.__self__, b.__self__
    if type(a) is not type(b):
        return f"{type(a)} and {type(b)}"
    if type(a) in PLAIN:
        return None if repr(a) == repr(b) else f"{a!r} and {b!r}"
    if type(a) not in (list, tuple, dict, set, frozenset):
        if id(a) in pairs:
            return None if pairs[id(a)] == id(b) else "who is whom"
        pairs[id(a)] = id(b)
        if numbers_a.get(id(a)) != numbers_b.get(id(b)):
            return f"number {numbers_a.get(id(a))} and {numbers_b.get(id(b))}"
    if isinstance(a, dict):
        if list(map(repr, a)) != list(map(repr, b)) and sorted(map(repr, a)) != sorted(map(repr, b)):
            return f"keys {list(a)} and {list(b)}"[:300]
        order = {repr(k): v for k, v in dict.items(b)}
        inside = [(v, order[repr(k)]) for k, v in dict.items(a)]
    elif isinstance(a, (list, tuple, collections.deque)):
        if len(a) != len(b):
            return "length"
        inside = [*zip(a, b, strict=True)]
    elif isinstance(a, (set, frozenset)):
        return None if sorted(map(repr, a)) == sorted(map(repr, b)) else "items"
    else:
        inside = []
    if type(a) not in (list, tuple, dict):
        mine, theirs = fields(a), fields(b)
        if mine.keys() != theirs.keys():
            return f"fields {sorted(mine)} and {sorted(theirs)}"
        inside += [(mine[name], theirs[name]) for name in mine]
    for one, other in inside:
        found = differs(one, other, numbers_a, numbers_b, pairs)
        if found is not None:
            return found
    return None


def came(prompt: Any, answer: Any) -> Any:
    try:
        made = Prompt(prompt)
        result, arguments = made.run()
        told, objects = made.expected(answer, arguments)
    except NotMade as reason:
        return f"not made: {reason}"
    numbers = {id(obj): number for number, obj in arguments.items() if number > 0}
    theirs = {id(obj): number for number, obj in objects.items() if number in arguments}
    why = differs(result, told, numbers, theirs, {})
    return "same" if why is None else f"another: {why}"


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            found = came(asked["prompt"], asked["answer"])
        except Exception as error:  # noqa: BLE001 - the code of a prompt may raise anything
            found = f"not made: {type(error).__name__}: {error}"
        print(json.dumps({"id": asked["id"], "came": found}))
