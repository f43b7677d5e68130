"""Hides deskcheck's loaded modules: the program finds the `sys.modules` of a new interpreter.

The modules stay loaded. An import of the program searches as usual. If it finds one of the hidden modules,
the program gets this module, and its own imports appear with it, in the same order. Standard library only.
Import this before all other modules of deskcheck: the modules loaded earlier are the interpreter's.
"""

import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_bootstrap: "Any" = sys.modules["_frozen_importlib"]
_files: "Any" = sys.modules["_frozen_importlib_external"]


class HiddenModules:
    """Notes the imports of modules until `hide`."""

    def __init__(self) -> None:
        self.visible = {name for name in sys.modules if name != __name__}
        """Modules that the interpreter itself loaded."""
        ours = {sys.modules["__main__"].__file__, __file__.rpartition("/")[0]}
        self._paths = frozenset(sys.path_importer_cache) - ours
        self._imports: dict[str, dict[str, None]] = {}
        """Modules that the code of a module imports, in order, by importing module."""
        self._put_by_hand: dict[str, list[str]] = {}
        """Modules that another one put into `sys.modules`, like `os.path` by `os`, by that module."""
        self._modules: dict[str, ModuleType] = {}
        self._is_same: dict[str, bool] = {}
        """Whether the program's search for a hidden module finds the same module, by name."""
        self._searched: dict[str, tuple[Any, list[str], list[Any]]] = {}
        """Results of searches by name, with the path and the finders of the search."""
        self._loading: list[str] = []
        self._import = builtins.__import__
        builtins.__import__ = self._noting_import

    def _noting_import(
        self, name: str, globals: "Any" = None, locals: "Any" = None, fromlist: "Any" = (), level: int = 0
    ) -> "Any":
        names = globals or {}
        importer = names.get("__name__")
        if (
            names is vars(_bootstrap) and self._loading
        ):  # a module in C, which runs within no frame of its own
            importer = self._loading[-1]
        plain = name
        if level:
            package = str(names.get("__package__")).rsplit(".", level - 1)[0]
            name = f"{package}.{name}" if name else package
        self._loading.append(name)
        try:
            module = self._import(plain, globals, locals, fromlist, level)
        finally:
            self._loading.pop()
        imported = [name, *(f"{name}.{item}" for item in fromlist or () if f"{name}.{item}" in sys.modules)]
        self._imports.setdefault(str(importer), {}).update(dict.fromkeys(imported))
        return module

    def with_imports(self, name: str) -> set[str]:
        """The names of a module and of all modules that its code imports."""
        names, todo = set(), [name]
        while todo:
            name = todo.pop()
            if name not in names:
                names.add(name)
                todo += [*self._imports.get(name, ()), name.rpartition(".")[0]]
        return names

    def hide(self, script: str | None = None) -> None:
        """Remove modules that are not `visible` from `sys.modules`. Later imports are the program's.

        Args:
            script: the path of a program's file, which the interpreter also tries as a folder of modules.
        """
        builtins.__import__ = self._import
        self._modules = {name: sys.modules[name] for name in sys.modules if name not in self.visible}
        for name, module in self._modules.items():
            del sys.modules[name]
            if getattr(getattr(module, "__spec__", None), "name", None) != name:
                self._put_by_hand.setdefault(name.rpartition(".")[0], []).append(name)
        for path in [*sys.path_importer_cache]:
            if path not in self._paths:
                del sys.path_importer_cache[path]
        if script is not None:
            sys.path_importer_cache[script] = None
        find = _bootstrap._find_spec

        def _find_spec(name: str, *args: "Any") -> "Any":
            earlier_spec, path, finders = self._searched.get(name, (None, None, None))
            spec = earlier_spec if path == sys.path and finders == sys.meta_path else find(name, *args)
            if spec is not None and name in self._modules and self._is_what_is_found(name, spec):
                spec.loader = _Revealing(self, self._modules[name].__spec__)
            return spec

        _bootstrap._find_spec = _find_spec

    def _is_what_is_found(self, name: str, spec: "Any") -> bool:
        """Whether a search finds the hidden module itself, and the same for the modules that it imports."""
        own_spec = getattr(self._modules[name], "__spec__", None)
        if own_spec is None or spec is None or spec.origin != own_spec.origin:
            return False
        self._is_same[name] = True  # what imports it in turn may go by that
        for imported in self._imports.get(name, ()):
            module = self._modules.get(imported)
            where = getattr(getattr(module, "__spec__", None), "has_location", False)
            if module is not None and where and imported not in self._is_same:
                parent = self.get(imported.rpartition(".")[0])
                spec = _files.PathFinder.find_spec(imported, getattr(parent, "__path__", None))
                self._searched[imported] = spec, [*sys.path], [*sys.meta_path]
                self._is_same[imported] = self._is_what_is_found(imported, spec)
            if not self._is_same.get(imported, True):
                self._is_same[name] = False
        return self._is_same[name]

    def get(self, name: str) -> "ModuleType | None":
        """A loaded module, visible or hidden."""
        return sys.modules.get(name) or self._modules.get(name)

    def loaded(self) -> "dict[str, ModuleType]":
        """All loaded modules, visible or hidden, by name."""
        return {**self._modules, **sys.modules}


class _Revealing:
    """A loader that makes a hidden module visible."""

    def __init__(self, modules: HiddenModules, spec: "Any") -> None:
        self._hidden = modules
        self._spec = spec

    def create_module(self, spec: "Any") -> "ModuleType":
        return self._hidden._modules[spec.name]

    def exec_module(self, module: "ModuleType") -> None:
        name = self._spec.name
        module.__spec__ = self._spec
        self._hidden._modules.pop(name, None)
        for imported in self._hidden._put_by_hand.get(name, ()):
            sys.modules[imported] = self._hidden._modules.pop(imported)
        for imported in self._hidden._imports.get(name, ()):
            if imported in self._hidden._modules:
                __import__(imported)
