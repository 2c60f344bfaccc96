"""Plants a defect (mutant) in the running test process: the modules to be changed are compiled from changed source
text. Nothing is written to the disk.

`plant` must be called before the program is imported. `pytest -p tests.mutants.plant` plants the mutant that the
environment variable TABLE_MUTANT names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from tests.mutants.defects import MUTANTS, Mutant, Patch


class _Changed(SourceFileLoader):
    """A module loader that compiles a module from changed source text, and ignores cached bytecode."""

    patches: tuple[Patch, ...] = ()

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_source(fullname) or ""
        for patch in self.patches:
            assert source.count(patch.old) == 1, f"{fullname}: {patch.old!r} stands {source.count(patch.old)} times"
            source = source.replace(patch.old, patch.new)
        return compile(source, self.get_filename(fullname), "exec")


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        patches = tuple(patch for patch in self._mutant.patches if patch.module == fullname)
        spec = PathFinder.find_spec(fullname, path, target) if patches else None
        if spec is not None and spec.origin is not None:
            spec.loader = _Changed(fullname, spec.origin)
            spec.loader.patches = patches
        return spec


def plant(name: str) -> None:
    """Plant the defect (mutant) of this name in this process, before the program is imported."""
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    too_late = [patch.module for patch in mutant.patches if patch.module in sys.modules]
    assert not too_late, f"already imported: {too_late}"
    sys.meta_path.insert(0, _Finder(mutant))


if "TABLE_MUTANT" in os.environ:
    plant(os.environ["TABLE_MUTANT"])
