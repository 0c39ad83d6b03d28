"""Holds the direction of imports in the adapter by import-linter, with the contracts of .importlinter-adapter.

    python scripts/lint_adapter.py

`lint-imports` itself refuses `dbt.adapters.tablestore`: its parent packages have an `__init__.py` (dbt-core's and
dbt-adapters'), and import-linter accepts only portions of namespace packages that have none. Therefore this process
finds `dbt` and `dbt.adapters` as such namespace packages, in this repository only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMESPACES = ("dbt", "dbt.adapters")


class NamespaceFinder(MetaPathFinder):
    """Finds dbt's packages without their `__init__.py`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in NAMESPACES:
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [os.path.join(REPOSITORY, *fullname.split("."))]
        return spec


def main() -> int:
    from importlinter.cli import lint_imports

    sys.path.insert(0, REPOSITORY)
    sys.meta_path.insert(0, NamespaceFinder())
    return lint_imports(config_filename=os.path.join(REPOSITORY, ".importlinter-adapter"), no_logo=True)


if __name__ == "__main__":
    sys.exit(main())
