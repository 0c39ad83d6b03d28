"""Installs a wheel into an environment of its own and looks whether dbt finds the adapter and its macros there.

    python scripts/try_wheel.py dist/dbt_tablestore-0.1.0-py3-none-any.whl

The environment borrows the dependencies of the one that runs this script, but not its editable install.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import venv

PROBE = """
import os, dbt.adapters, dbt.include
from dbt.adapters.factory import FACTORY
import tablestore_engine, tablestore_engine.options

FACTORY.load_plugin("tablestore")
plugin = FACTORY.get_plugin_by_name("tablestore")
macros = [name for _, _, names in os.walk(plugin.include_path) for name in names if name.endswith(".sql")]
assert macros, "no macros in " + plugin.include_path
for module in (tablestore_engine.__path__[0], plugin.include_path):
    assert module.startswith(os.environ["EXPECTED"]), module
print(f"dbt finds the adapter, {len(macros)} macro files and the engine in the wheel")
"""


def main() -> int:
    (wheel,) = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = os.path.join(folder, "bin", "python")
        site = sysconfig.get_path("purelib", vars={"base": folder, "platbase": folder})
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", os.path.abspath(wheel)], check=True)
        # A path in a .pth file is not searched for further .pth files, so the editable install stays outside.
        with open(os.path.join(site, "borrowed.pth"), "w", encoding="utf-8") as file:
            file.write(sysconfig.get_path("purelib") + "\n")
        environment = {**os.environ, "EXPECTED": os.path.realpath(site)}
        environment.pop("PYTHONPATH", None)
        tried = subprocess.run([python, "-c", PROBE], cwd=folder, env=environment, check=False)
        script = os.path.join(folder, "bin", "tablestore")
        helped = subprocess.run([script, "--help"], cwd=folder, env=environment, check=False, stdout=subprocess.DEVNULL)
    return tried.returncode or helped.returncode


if __name__ == "__main__":
    sys.exit(main())
