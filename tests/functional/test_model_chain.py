"""A chain of models from changes over random batches, with a storage that dies at a random step of each run: after the
next run, every model is what a full refresh makes of it.

`make chain` plays 200 batches, `make chain-small` some; without them pytest plays none, since each takes seconds.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager, suppress
from random import Random

import pyarrow as pa
import pytest
from dbt.tests.util import run_dbt
from support.dbt_models import store_of

from tablestore_engine.errors import StorageError
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.storage.file_io import LocalFileIO

BATCHES = int(os.environ.get("TABLESTORE_CHAIN", "0"))
SEED = int(os.environ.get("TABLESTORE_CHAIN_SEED", "1"))
REFRESHED = 25
"""After so many batches the models are also built anew, and compared."""
STEPS = ("write", "create", "delete", "delete_tree", "rename", "mkdirs", "open_output")
COUNTRIES = ("DE", "FR", "IT")
RANKS = 3

pytestmark = pytest.mark.skipif(not BATCHES, reason="make chain plays it")

ENRICHED = """
{{ config(materialized='incremental', incremental_strategy='changelog', unique_key='id') }}
select c._row_kind, c.id, k.country, c.day, c.amount
from {{ changes(source('shop', 'orders')) }} c
join {{ pinned(source('shop', 'customers')) }} k on k.customer = c.customer
"""
TOTALS = """
{{ config(materialized='incremental', incremental_strategy='append', primary_key=['day', 'country'],
          merge_engine='aggregation', fields={'n': 'sum', 'amount': 'sum'}) }}
select day, country, sum({{ row_sign() }}) as n, sum(amount * {{ row_sign() }}) as amount
from {{ changes(ref('enriched')) }}
group by day, country
"""
TOP = """
{{ config(materialized='incremental', incremental_strategy='changelog', unique_key=['country', 'rank']) }}
with changed as (select distinct country from {{ changes(ref('totals')) }}),
ranked as (
  select t.country, t.day, t.amount, row_number() over (partition by t.country order by t.amount desc, t.day) as rank
  from {{ pinned(ref('totals')) }} t join changed on changed.country = t.country where t.n > 0
)
select if(r.rank is null, '-D', '+I') as _row_kind, s.country, s.rank, r.day, r.amount
from (select country, explode(array(1, 2, 3)) as rank from changed) s
left join ranked r on r.country = s.country and r.rank = s.rank
"""


@pytest.fixture(scope="class")
def models():
    sources = (
        'version: 2\nsources:\n  - name: shop\n    schema: "{{ target.schema }}"\n'
        "    tables: [{name: orders}, {name: customers}]\n"
    )
    return {"sources.yml": sources, "enriched.sql": ENRICHED, "totals.sql": TOTALS, "top.sql": TOP}


class DyingStorage:
    """A storage of which nothing can be changed any more from some step on, before it or after it happened: what a
    process that is killed there leaves behind."""

    def __init__(self):
        self.steps = 0
        self._dies_at, self._after = None, False

    @contextmanager
    def dying(self, at, *, after):
        self.steps, self._dies_at, self._after = 0, at, after
        try:
            yield
        finally:
            self._dies_at = None

    def install(self, monkeypatch):
        for name in STEPS:
            monkeypatch.setattr(LocalFileIO, name, self._guarded(getattr(LocalFileIO, name)))

    def _guarded(self, action):
        def step(io, path, *args, **kwargs):
            self.steps += 1
            at = self._dies_at
            if at is not None and (self.steps > at or (self.steps == at and not self._after)):
                raise StorageError(path, "killed")
            found = action(io, path, *args, **kwargs)
            if at is not None and self.steps >= at:
                raise StorageError(path, "killed")
            return found

        return step


@pytest.fixture
def store(project):
    opened = store_of(project)
    opened.execute("create schema if not exists " + project.test_schema)
    opened.execute(
        "create table orders (id int, customer int, day int, amount int, primary key (id) not enforced)"
        " with ('bucket' = '2', 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '2')"
    )
    opened.execute("create table customers (customer int, country string)")
    numbers = pa.array(range(6), pa.int32())
    countries = [COUNTRIES[number % 3] for number in range(6)]
    opened.table("customers").write(pa.table({"customer": numbers, "country": countries}))
    return opened


def change(store, random, orders):
    """A random batch of new, changed and deleted orders, and now and then what else happens to tables."""
    rows = []
    for number in random.sample(range(20), random.randrange(1, 8)):
        if number in orders and random.random() < 0.3:
            rows.append(("-D", number, *orders.pop(number)))
        else:
            orders[number] = (random.randrange(6), random.randrange(4), random.randrange(1, 50))
            rows.append(("+I", number, *orders[number]))
    names = ("_row_kind", "id", "customer", "day", "amount")
    types = [pa.string(), *[pa.int32()] * 4]
    arrays = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    store.table("orders").write(pa.table(arrays, names=list(names)))
    if random.random() < 0.2:
        store.execute(f"call sys.compact(table => '{random.choice(('orders', 'enriched', 'totals'))}')")
    if random.random() < 0.3:
        store.table(random.choice(("orders", "enriched", "totals"))).expire_snapshots(Retention(1, 1, 0, 100))


def expected(orders):
    """What the models hold after all changes."""
    enriched = {(number, COUNTRIES[c % 3], day, amount) for number, (c, day, amount) in orders.items()}
    counts, sums = Counter(), Counter()
    for _, country, day, amount in enriched:
        counts[day, country] += 1
        sums[day, country] += amount
    totals = {(day, country, n, sums[day, country]) for (day, country), n in counts.items()}
    top = set()
    for country in COUNTRIES:
        of_country = sorted((-amount, day) for day, one, _, amount in totals if one == country)
        top |= {(country, rank, day, -less) for rank, (less, day) in enumerate(of_country[:RANKS], 1)}
    return {"enriched": enriched, "totals": totals, "top": top}


def held(store):
    """The rows of the models; sums of days without any order are none."""
    found = {name: rows_of(store, name) for name in ("enriched", "totals", "top")}
    return {**found, "totals": {row for row in found["totals"] if row[2]}}


def rows_of(store, name):
    rows = [tuple(row.values()) for row in store.table(name).to_arrow().to_pylist()]
    assert len(set(rows)) == len(rows)
    return set(rows)


class TestChain:
    def test_every_change_counts_once_wherever_a_run_dies(self, project, store, monkeypatch):
        storage, random, orders = DyingStorage(), Random(SEED), {}
        storage.install(monkeypatch)
        change_first = {number: (number % 6, number % 4, 10 + number) for number in range(5)}
        orders.update(change_first)
        rows = [(number, *values) for number, values in orders.items()]
        names = ("id", "customer", "day", "amount")
        arrays = [pa.array(column, pa.int32()) for column in zip(*rows, strict=True)]
        store.table("orders").write(pa.table(arrays, names=list(names)))
        run_dbt(["run"])
        steps = died = 0
        for batch in range(1, BATCHES + 1):
            change(store, random, orders)
            with storage.dying(random.randrange(1, max(steps, 30)), after=random.random() < 0.5), suppress(Exception):
                died += not all(one.status == "success" for one in run_dbt(["run"], expect_pass=None))
            storage.steps = 0
            run_dbt(["run"])
            steps = max(steps, storage.steps)
            assert held(store) == expected(orders), f"seed {SEED}, batch {batch}"
            if batch % REFRESHED == 0 or batch == BATCHES:
                run_dbt(["run", "--full-refresh"])
                assert held(store) == expected(orders), f"built anew after batch {batch}"
                print(f"seed {SEED}: {batch} batches, {died} runs died", flush=True)
        print(f"{BATCHES} batches, {died} runs died, up to {steps} storage steps in a run")
