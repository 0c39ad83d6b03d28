"""Snapshots of tables with a key compare the rows that changed since the last run, and keep what all rows would give.

The judge is a snapshot of the same rows by a query that is no plain selection, of which all rows are compared.
"""

from __future__ import annotations

import pytest
from dbt.tests.util import relation_from_name, run_dbt, write_file

from dbt.adapters.tablestore.models.snapshot_source import SnapshotSource

CONFIGS = {
    "by_check": "unique_key=['id'], strategy='check', check_cols='all'",
    "to_day": "unique_key='id', strategy='timestamp', updated_at='at', dbt_valid_to_current=\"date'9999-12-31'\"",
}
ALL = len(CONFIGS)
JUDGED = "id, v, dbt_valid_to is null or dbt_valid_to >= date'9000-01-01'"
TEXT = "{{% snapshot {name} %}}{{{{ config({config}) }}}}{query}{{% endsnapshot %}}"
CHANGED = "select * from {{ target.schema }}.shop"
WHOLE = "select * from (select * from {{ target.schema }}.shop)"


class TestSnapshotsOfATable:
    @pytest.fixture(scope="class")
    def snapshots(self):
        texts = {}
        for name, config in CONFIGS.items():
            texts[f"{name}.sql"] = TEXT.format(name=name, config=config, query=CHANGED)
            texts[f"{name}_whole.sql"] = TEXT.format(name=f"{name}_whole", config=config, query=WHOLE)
        return texts

    @pytest.fixture
    def narrowed(self, monkeypatch):
        """The names of sources of which only changed rows were compared."""
        found, compare = [], SnapshotSource.changed_rows

        def changed_rows(source, before, after):
            found.append(source.name)
            return compare(source, before, after)

        monkeypatch.setattr(SnapshotSource, "changed_rows", changed_rows)
        return found

    def taken(self, project, narrowed, count, names=tuple(CONFIGS)):
        """Run snapshots, of which so many compare changed rows only; both of a pair have the same rows then."""
        narrowed.clear()
        run_dbt(["snapshot", "-s", *names, *(f"{name}_whole" for name in names)])
        assert len(narrowed) == count
        taken = [
            f"select '{name}' as name, '{half}' as half, {JUDGED}, "
            f"{'null, null' if name == 'by_check' else 'dbt_valid_from, dbt_scd_id'} "
            f"from {project.test_schema}.{name}{half}"
            for name in names
            for half in ("", "_whole")
        ]
        found = [tuple(row) for row in project.run_sql(" union all ".join(taken), fetch="all")]
        for name in names:
            mine, judge = (sorted(row[2:] for row in found if row[:2] == (name, half)) for half in ("", "_whole"))
            assert mine == judge, name
        return {name: sum(row[:2] == (name, "") for row in found) for name in names}

    def test_only_changed_rows_are_compared(self, project, narrowed):
        shop = f"{project.test_schema}.shop"

        def change(sql):
            project.run_sql(sql.format(shop=shop))

        change("create table {shop} (id int, v string, at timestamp, primary key (id) not enforced)")
        change("insert into {shop} select id, 'a', timestamp'2024-01-01' from range(50)")
        assert set(self.taken(project, narrowed, 0).values()) == {50}
        # Nothing changed.
        assert set(self.taken(project, narrowed, ALL).values()) == {50}
        # New, changed once and twice, changed to an older time and to none, and removed.
        change("insert into {shop} values (1, 'b', timestamp'2024-01-02'), (2, 'b', timestamp'2024-01-02')")
        change("insert into {shop} values (1, 'c', timestamp'2024-01-03'), (70, 'a', timestamp'2024-01-01')")
        change("insert into {shop} values (3, 'z', timestamp'2023-01-01'), (4, 'z', null)")
        change("delete from {shop} where id = 5")
        assert self.taken(project, narrowed, ALL) == {"by_check": 55, "to_day": 53}
        # Back to an older value, after a compaction of both.
        change("alter table {shop} compact")
        change(f"alter table {project.test_schema}.to_day compact")
        change("insert into {shop} values (1, 'a', timestamp'2024-01-04'), (5, 'again', timestamp'2024-01-04')")
        assert self.taken(project, narrowed, ALL) == {"by_check": 57, "to_day": 55}
        # Somebody changed a snapshot: all rows are compared once, and then only changed ones.
        both = [f"{project.test_schema}.{name}" for name in ("to_day", "to_day_whole")]
        for name in both:
            change(f"delete from {name} where id = 7")
        by_hand = [project.run_sql(f"select max(snapshot_id) from {name}$snapshots", fetch="one")[0] for name in both]
        assert self.taken(project, narrowed, ALL - 1)["to_day"] == 55
        change("insert into {shop} values (8, 'b', timestamp'2024-01-05')")
        assert self.taken(project, narrowed, ALL)["to_day"] == 56
        # Rolled back to the state that somebody made: the row that was removed by hand comes back.
        for name, snapshot in zip(both, by_hand, strict=True):
            change(f"call sys.rollback(table => '{name}', version => '{snapshot}')")
        assert self.taken(project, narrowed, ALL - 1)["to_day"] == 56

    def test_all_rows_are_compared_where_the_source_or_the_config_is_another_one(self, project, narrowed):
        shop, names = f"{project.test_schema}.shop", ("by_check",)
        project.run_sql(f"alter table {shop} add column more int")
        self.taken(project, narrowed, 0, names)
        for text, count in (("l", 0), ("m", 1)):  # the first of them goes on from a snapshot without the column
            project.run_sql(f"insert into {shop} values (2, '{text}', timestamp'2024-02-01', 1)")
            self.taken(project, narrowed, count, names)
        for verb, count in (("create or replace table", 1), ("create table", 0)):
            project.run_sql(f"create or replace table {shop}_new as select id, v || 'r' as v, at, more from {shop}")
            if count == 0:
                project.run_sql(f"drop table {shop}")
            project.run_sql(f"{verb} {shop} (primary key (id) not enforced) as select * from {shop}_new")
            self.taken(project, narrowed, count, names)
        project.run_sql(f"insert into {shop} values (2, 'n', timestamp'2024-02-02', 1)")
        self.taken(project, narrowed, 1, names)
        config = CONFIGS["by_check"].replace("'all'", "['MORE']")
        for name, query in (("by_check", CHANGED), ("by_check_whole", WHOLE)):
            text = TEXT.format(name=name, config=config, query=query)
            write_file(text, project.project_root, "snapshots", f"{name}.sql")
        self.taken(project, narrowed, 0, names)

    def test_ended_rows_of_deletes_need_all_rows(self, project, narrowed):
        query = "{% snapshot ended %}{{ config(unique_key='id', strategy='check', check_cols=['v'], updated_at='at', "
        query += "hard_deletes='invalidate') }}select * from {{ target.schema }}.shop{% endsnapshot %}"
        write_file(query, project.project_root, "snapshots", "ended.sql")
        run_dbt(["snapshot", "-s", "ended"])
        project.run_sql(f"delete from {project.test_schema}.shop where id = 9")
        run_dbt(["snapshot", "-s", "ended"])
        assert narrowed == []
        relation = relation_from_name(project.adapter, "ended")
        ended = project.run_sql(f"select id from {relation} where dbt_valid_to is not null", fetch="all")
        assert [tuple(row) for row in ended] == [(9,)]
        # It comes back as it was: its id is that of the row that ended.
        project.run_sql(f"insert into {project.test_schema}.shop (id, v, at) values (9, 'a', timestamp'2024-01-01')")
        run_dbt(["snapshot", "-s", "ended"])
        assert [current for _, current in self.versions(project, "ended", 9)] == [False, True]

    def versions(self, project, name, key):
        """The values of a key in a snapshot, and whether they are the current ones."""
        relation = relation_from_name(project.adapter, name)
        query = f"select v, dbt_valid_to is null from {relation} where id = {key} order by 2, 1"
        return [tuple(row) for row in project.run_sql(query, fetch="all")]

    def test_a_change_without_a_later_time_is_a_row_of_its_own(self, project, narrowed):
        table = f"{project.test_schema}.untimed"
        project.run_sql(f"create table {table} (id int, v string, at date, primary key (id) not enforced)")
        config = "unique_key='id', strategy='check', check_cols=['v'], updated_at='at'"
        text = TEXT.format(name="again", config=config, query="select * from {{ target.schema }}.untimed")
        write_file(text, project.project_root, "snapshots", "again.sql")
        days = [("a", 2), ("b", 2), ("c", 2), ("d", 1), ("e", 2), ("f", 3)]
        for v, day in days:
            project.run_sql(f"insert into {table} values (1, '{v}', date'2024-01-0{day}')")
            run_dbt(["snapshot", "-s", "again"])
        assert self.versions(project, "again", 1) == [*((v, False) for v in "abcde"), ("f", True)]
