"""MERGE, and what all row-level statements do, against the same computed naively, on tables with and without a key."""

from __future__ import annotations

import pytest
from support.row_level import SOURCE, TARGET, check
from support.spark_rows import in_order, rows, stored

from tablestore_engine.errors import PrimaryKeyError, SchemaError, SqlError

pytestmark = [pytest.mark.spark, pytest.mark.cover("target")]


def naive_merge(matched, not_matched, by_source):
    """Each clause is a function of (target row, source row) that gives a row, `DELETE`, or None: does not apply."""
    source = {r[0]: r for r in SOURCE if r[0] is not None}
    result, changed = [], 0
    for row in TARGET:
        other = source.get(row[0])
        clauses = matched if other is not None else by_source
        for clause in clauses:
            outcome = clause(row, other)
            if outcome is not None:
                changed += 1
                if outcome != "DELETE":
                    result.append(outcome)
                break
        else:
            result.append(row)
    for row in SOURCE:
        if row[0] is None or row[0] not in {t[0] for t in TARGET}:
            for clause in not_matched:
                outcome = clause(None, row)
                if outcome is not None:
                    changed += 1
                    result.append(outcome)
                    break
    return sorted(result), changed


NOT_NULL = "SELECT * FROM source WHERE id IS NOT NULL"


@pytest.mark.parametrize(
    ("clauses", "matched", "not_matched", "by_source"),
    [
        (
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
            [lambda t, s: s],
            [lambda t, s: s],
            [],
        ),
        pytest.param(
            "WHEN MATCHED THEN UPDATE SET v = s.v + t.v",
            [lambda t, s: (t[0], None if s[1] is None else s[1] + t[1], t[2])],
            [],
            [],
            marks=pytest.mark.soak,
        ),
        pytest.param("WHEN MATCHED THEN DELETE", [lambda t, s: "DELETE"], [], [], marks=pytest.mark.soak),
        (
            """WHEN MATCHED AND s.s = 'del' THEN DELETE WHEN MATCHED AND s.v IS NOT NULL THEN UPDATE SET t.v = s.v
            WHEN NOT MATCHED AND s.s <> 'skip' THEN INSERT (id, s) VALUES (s.id, upper(s.s))""",
            [
                lambda t, s: "DELETE" if s[2] == "del" else None,
                lambda t, s: (t[0], s[1], t[2]) if s[1] is not None else None,
            ],
            [lambda t, s: (s[0], None, s[2].upper()) if s[2] != "skip" else None],
            [],
        ),
        pytest.param(
            "WHEN NOT MATCHED THEN INSERT (v, id) VALUES (1, s.id)",
            [],
            [lambda t, s: (s[0], 1, None)],
            [],
            marks=pytest.mark.soak,
        ),
        (
            """WHEN NOT MATCHED BY TARGET THEN INSERT * WHEN NOT MATCHED BY SOURCE AND t.id > 8 THEN DELETE
            WHEN NOT MATCHED BY SOURCE THEN UPDATE SET s = 'gone'""",
            [],
            [lambda t, s: s],
            [lambda t, s: "DELETE" if t[0] > 8 else None, lambda t, s: (t[0], t[1], "gone")],
        ),
        (
            """WHEN MATCHED THEN UPDATE SET s = s.s WHEN NOT MATCHED THEN INSERT *
            WHEN NOT MATCHED BY SOURCE AND t.v < 20 THEN DELETE""",
            [lambda t, s: (t[0], t[1], s[2])],
            [lambda t, s: s],
            [lambda t, s: "DELETE" if t[1] < 20 else None],
        ),
        (  # as dbt's default__get_merge_sql writes it, and conditions that name one side only
            """WHEN MATCHED THEN UPDATE SET v = s.v, s = s.s
            WHEN NOT MATCHED AND v IS NULL THEN INSERT (`id`, s) VALUES (`id`, s)
            WHEN NOT MATCHED THEN INSERT (id, v, s) VALUES (id, v, s)
            WHEN NOT MATCHED BY SOURCE AND v < 20 THEN DELETE
            WHEN NOT MATCHED BY SOURCE AND s IS NOT NULL THEN UPDATE SET v = v + id, s = upper(s)""",
            [lambda t, s: (t[0], s[1], s[2])],
            [lambda t, s: (s[0], None, s[2]) if s[1] is None else s],
            [
                lambda t, s: "DELETE" if t[1] < 20 else None,
                lambda t, s: (t[0], t[1] + t[0], t[2].upper()) if t[2] is not None else None,
            ],
        ),
    ],
)
def test_merge(target, clauses, matched, not_matched, by_source):
    source = SOURCE[:-1]  # the row without an id matches nothing; a keyed table could not take it
    target.spark.createDataFrame(source, "id int, v int, s string").createOrReplaceTempView("source")
    expected, changed = naive_merge(
        matched, [lambda t, s, c=c: None if s[0] is None else c(t, s) for c in not_matched], by_source
    )
    result = target.execute(f"MERGE INTO t USING source s ON t.id = s.id {clauses}")
    assert rows(target) == in_order(expected)
    assert result.rows_affected == changed
    check(target)


@pytest.mark.parametrize("assigned", ["SET id = t.id + 100, v = 1", "SET t.id = s.v", "SET *"])
def test_a_merge_that_would_change_a_key(target, assigned):
    merge = f"MERGE INTO t USING source s ON t.id = s.id + 1 WHEN MATCHED THEN UPDATE {assigned}"
    if not target.keyed:
        assert target.execute(merge).rows_affected == len(
            {r[0] for r in TARGET} & {r[0] + 1 for r in SOURCE if r[0] is not None}
        )
        return
    with pytest.raises(
        PrimaryKeyError, match=r"^MERGE INTO \S+ failed: MERGE would change column 'id', .* row\. Nothing"
    ):
        target.execute(merge)
    assert stored(target) == sorted(TARGET)
    same = "MERGE INTO t USING source s ON t.id = s.id + 1 WHEN MATCHED THEN UPDATE SET id = s.id + 1, v = 7"
    assert target.execute(same).rows_affected == sum(1 for r in stored(target) if r[1] == 7) > 0


def test_merge_from_a_query_with_another_alias(target):
    target.execute(
        "MERGE INTO default.t AS x USING (SELECT id AS k, max(v) AS m FROM source "
        "WHERE id IS NOT NULL GROUP BY id) AS y"
        " ON x.id = y.k AND y.m > 300 WHEN MATCHED THEN UPDATE SET x.v = y.m"
        " WHEN NOT MATCHED AND y.k > 20 THEN INSERT (id, v) VALUES (y.k, y.m)"
    )
    found = {r[0]: r[1] for r in rows(target)}
    assert (found[5], found[3], found[21]) == (500, 30, None)


def test_a_merge_on_nothing_replaces_what_a_condition_says(target):
    """The text of dbt's default__get_insert_overwrite_merge_sql."""
    target.execute(
        f"MERGE INTO default.t AS DBT_INTERNAL_DEST USING ({NOT_NULL} AND id > 10) AS DBT_INTERNAL_SOURCE ON FALSE"
        " WHEN NOT MATCHED BY SOURCE AND v >= 50 THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT (id, v, s) VALUES (id, v, s)"
    )
    expected = [r for r in TARGET if r[1] < 50] + [r for r in SOURCE if r[0] is not None and r[0] > 10]
    assert rows(target) == in_order(expected)
    check(target)


def test_names_in_a_clause_mean_the_side_that_it_is_about(target):
    target.spark.sql(
        "SELECT id, named_struct('v', id * 2) AS v, array(id, 1) AS s, date'2024-01-01' AS day, id AS t"
        " FROM VALUES (3), (20), (21) AS x(id)"
    ).createOrReplaceTempView("odd")
    target.execute(
        "MERGE INTO t USING odd ON t.id = odd.id"
        " WHEN MATCHED THEN UPDATE SET v = 7 DIV (odd.id - 2), s = day"  # one side has a day
        " WHEN NOT MATCHED AND exists(s, id -> id = 21) THEN INSERT (id, v) VALUES (id, v.v)"
        " WHEN NOT MATCHED THEN INSERT (id, v, s)"
        " VALUES (id, 60 DIV (id - 3), concat(day + interval 1 day, aggregate(s, 0, (t, id) -> t + id),"
        " (SELECT max(id) FROM t WHERE id < odd.id)))"
    )
    found = {r[0]: r[1:] for r in rows(target) if r[0] in (3, 20, 21)}
    assert found == {3: (7, "2024-01-01"), 20: (3, "2024-01-022111"), 21: (42, None)}


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("WHEN MATCHED THEN UPDATE SET v = v + 1", "`v`"),
        ("WHEN MATCHED AND v > 1 THEN DELETE", "`v`"),
        ("WHEN NOT MATCHED THEN INSERT (id, v) VALUES (id, t.v)", "`t`.`v`"),
        ("WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = src.v", "`src`.`v`"),
        ("WHEN NOT MATCHED THEN INSERT (id) VALUES (nothing)", "`nothing`"),
    ],
)
def test_names_that_a_clause_cannot_see(target, clause, words):
    with pytest.raises(SqlError) as caught:
        target.execute(f"MERGE INTO t USING source src ON t.id = src.id {clause}")
    assert words in str(caught.value)
    assert stored(target) == sorted(TARGET)


def test_merge_of_itself(target):
    target.execute(
        "MERGE INTO t USING (SELECT id + 100 AS id, v, s FROM t WHERE id < 2) s ON "
        "t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows(target) == in_order([*TARGET, *((i + 100, v, s) for i, v, s in TARGET if i < 2)])


def test_a_source_that_matches_twice_is_refused(target):
    target.spark.sql("SELECT 3 AS id, 1 AS v, 'a' AS s UNION ALL SELECT 3, 2, 'b'").createOrReplaceTempView("source")
    with pytest.raises(SqlError, match=r"once|several"):
        target.execute("MERGE INTO t USING source s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v")
    assert stored(target) == sorted(TARGET)
    check(target)


def test_a_key_that_the_column_cannot_hold_matches_nothing(target):
    far = "SELECT id + 4294967296 AS id, v, s FROM source UNION ALL SELECT 1L, 5, null"
    update = "WHEN MATCHED THEN UPDATE SET v = s.v"
    insert = "WHEN NOT MATCHED AND s.v = 300 THEN INSERT (id, v, s) VALUES (99, s.v, s.s)"
    target.execute(f"MERGE INTO t USING ({far}) s ON t.id = s.id {update} {insert}")
    changed = [(99, 300, "s3"), *((i, 5 if i == 1 else v, s) for i, v, s in TARGET)]
    assert stored(target) == sorted(changed)


@pytest.mark.parametrize("small", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_a_merge_may_replace_a_row_by_another(target, monkeypatch, small):
    if not small:
        monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    target.execute(
        "MERGE INTO t USING (SELECT 3 AS id, true AS goes UNION ALL SELECT 3, false UNION ALL SELECT 99, false) s"
        " ON t.id = s.id AND s.goes WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, -1)"
    )
    kept = [r for r in TARGET if r[0] != 3]
    assert rows(target) == in_order([*kept, (3, -1, None), (99, -1, None)])
    check(target)


def test_merge_into_an_empty_table_that_nobody_wrote(target):
    target.execute("CREATE OR REPLACE TABLE t (id INT, v INT, s STRING)")
    target.execute("MERGE INTO t USING source s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
    assert len(rows(target)) == len(SOURCE)


def test_distributed_changes(target, monkeypatch):
    monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    target.execute("UPDATE t SET v = v + 1 WHERE id >= 6")
    target.execute("DELETE FROM t WHERE id IN (6, 7)")
    target.execute(
        f"MERGE INTO t USING ({NOT_NULL}) s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
    )
    expected = [(i, v + (i >= 6), s) for i, v, s in TARGET if i not in (3, 4, 5, 6, 7)]
    expected += [r for r in SOURCE if r[0] in (20, 21)]
    assert rows(target) == in_order(expected)
    check(target)


def test_a_change_that_was_overtaken_runs_again(target, monkeypatch):
    """Another writer commits between the read and the commit of an UPDATE."""
    from tablestore_engine.spark.dml import row_level

    finish, others = row_level.finish, ["UPDATE t SET v = v + 5 WHERE id = 1"]

    def slow(*args, **kwargs):
        if others:
            target.execute(others.pop())
        return finish(*args, **kwargs)

    monkeypatch.setattr(row_level, "finish", slow)
    target.execute("UPDATE t SET v = v + 1 WHERE id = 1")
    assert {r[0]: r[1] for r in rows(target)}[1] == 16
    check(target)


@pytest.mark.parametrize("small", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_a_row_that_only_goes_may_match_several(target, monkeypatch, small):
    """As in Spark: whichever of them deletes it, the result is the same."""
    if not small:
        monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    source = "(SELECT * FROM VALUES (3, 1), (3, 2), (4, 1), (50, 5), (51, 5) AS x(id, v)) s"
    result = target.execute(
        f"MERGE INTO t USING {source} ON t.id = s.id WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
        " WHEN NOT MATCHED BY SOURCE AND t.id < 2 THEN UPDATE SET v = -1"
    )
    kept = [(i, -1 if i < 2 else v, s) for i, v, s in TARGET if i not in (3, 4)]
    assert rows(target) == in_order([*kept, (50, 5, None), (51, 5, None)])
    assert result.rows_affected == 2 + 2 + 2
    check(target)
    with pytest.raises(SqlError, match=r"once|several"):
        target.execute(
            "MERGE INTO t USING (SELECT * FROM VALUES (5, 1), (5, 2) AS x(id, v)) s ON t.id = s.id"
            " WHEN MATCHED AND s.v > 0 THEN DELETE"
        )


def test_a_table_merged_into_itself(target):
    target.execute(
        "MERGE INTO default.t USING default.t AS s ON default.t.id = s.v / 10 + 1"
        " WHEN MATCHED AND s.id < 3 THEN UPDATE SET v = s.id + 1000"
    )
    assert rows(target) == sorted((i, 999 + i if i in (1, 2, 3) else v, s) for i, v, s in TARGET)


def test_default_is_null(target):
    target.execute("INSERT INTO t VALUES (50, DEFAULT, 'DEFAULT'), (51, default, \"default\")")
    target.execute("UPDATE t SET v = DEFAULT, s = default WHERE id = 1")
    target.execute(
        "MERGE INTO t USING (SELECT id FROM VALUES (2), (52) AS x(id)) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = DEFAULT WHEN NOT MATCHED THEN INSERT (id, v, s) VALUES (s.id, 1, DEFAULT)"
    )
    found = {r[0]: r[1:] for r in rows(target) if r[0] in (1, 2, 50, 51, 52)}
    assert found == {1: (None, None), 2: (None, "t2"), 50: (None, "DEFAULT"), 51: (None, "default"), 52: (1, None)}


@pytest.mark.parametrize("more", [", 'x' AS s", ", null AS s", ", 5 AS s"])
def test_a_star_refuses_a_source_with_a_column_twice(target, more):
    """Where the source's alias is a column of nulls, Spark reads `s.v` as a field of null."""
    before = rows(target)
    for clauses in (
        "WHEN NOT MATCHED THEN INSERT *",
        "WHEN MATCHED THEN UPDATE SET *",
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ):
        source = f"(SELECT 1 AS id, 2 AS v, 3 AS v{more})"
        with pytest.raises(SchemaError, match="source of MERGE has more than one column 'v'"):
            target.execute(f"MERGE INTO t USING {source} s ON t.id = s.id {clauses}")
    assert rows(target) == before


def test_stars_in_expressions_mean_the_columns(target):
    """Not those of the engine, which the queries of changed rows read, too."""
    before = rows(target)
    same = "(SELECT id, if(id = 2, -1, v) AS v, s FROM t WHERE id < 4) s"
    changed = target.execute(
        f"MERGE INTO t USING {same} ON t.id = s.id WHEN MATCHED AND hash(t.*) <> hash(s.*)"
        " THEN UPDATE SET s = to_json(struct(s.*)) || to_json(struct(t.* EXCEPT (s)))"
        " WHEN NOT MATCHED BY SOURCE AND hash(*) = hash(5, 50, 't5') THEN DELETE"
    )
    assert changed.rows_affected == 2
    assert target.execute(
        "UPDATE t SET v = size(split(concat_ws(',', *), ',')) WHERE to_json(struct(*)) LIKE '{\"id\":6,%}'"
    ).rows_affected
    assert not target.execute("DELETE FROM t WHERE to_json(struct(t.*)) LIKE '%tablestore%'").rows_affected
    expected = {one[0]: one for one in before if one[0] != 5}
    expected[2] = (2, 20, '{"id":2,"v":-1,"s":"t2"}{"id":2,"v":20}')
    expected[6] = (6, 3, "t6")
    assert rows(target) == sorted(expected.values())
