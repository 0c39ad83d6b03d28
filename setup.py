"""Packages and package data; everything else about the distribution is in pyproject.toml.

`dbt`, `dbt.adapters` and `dbt.include` are namespaces that belong to dbt-core and dbt-adapters. Only the folders
below them that are ours may be shipped, and none of the three may get an `__init__.py` from us.
"""

from setuptools import find_namespace_packages, setup

setup(
    # Saying where the packages lie makes an editable install put the checkout on sys.path, where dbt's own
    # namespace (pkgutil.extend_path) looks. An import hook, setuptools' other way, would hide us from dbt.
    package_dir={"": "."},
    packages=find_namespace_packages(include=["dbt", "dbt.*", "pyspark_tablestore", "tablestore_engine*"]),
    package_data={
        "dbt.include.tablestore": ["*.md", "*.sql", "*.yml", "**/*.md", "**/*.sql", "**/*.yml"],
        "tablestore_engine": ["py.typed"],
    },
)
