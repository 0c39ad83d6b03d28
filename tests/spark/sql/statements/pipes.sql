-- ours: a pipe behind FROM
FROM a |> WHERE x > 1 |> SELECT x, y

-- ours: a pipe behind TABLE, VALUES and a query
TABLE a |> UNION ALL (VALUES (1)) |> EXCEPT (SELECT x FROM b |> LIMIT 3)

-- ours: a pipe that extends, sets, drops and renames
FROM s.a |> EXTEND x + 1 AS z |> SET y = z * 2 |> DROP x |> AS t |> SELECT t.z

-- ours: pipes with subqueries
FROM a |> EXTEND (SELECT max(x) FROM b) AS m |> SET y = (SELECT 1 FROM c) |> WHERE x IN (SELECT x FROM d)

-- ours: a pipe that joins
FROM a |> JOIN b USING (x) |> LEFT OUTER JOIN s.c d ON a.x = d.x |> CROSS JOIN (SELECT 1 FROM e)

-- ours: a pipe that joins laterally
FROM a |> JOIN LATERAL (SELECT * FROM b WHERE b.x = a.x) |> NATURAL JOIN c

-- ours: a pipe that aggregates
FROM a |> AGGREGATE sum(x) AS total, count(*) GROUP BY y, z |> ORDER BY total DESC |> LIMIT 3 OFFSET 1

-- ours: a pipe that aggregates all rows
FROM a |> AGGREGATE max((SELECT x FROM b)) AS m

-- ours: a pipe with set operations
FROM a |> UNION ALL (SELECT * FROM b) |> INTERSECT TABLE c |> MINUS VALUES (1)

-- ours: a pipe that pivots and unpivots
FROM a |> PIVOT (sum(x) FOR y IN ('a', 'b')) |> UNPIVOT (v FOR n IN (p, q))

-- ours: a pipe that samples
FROM a |> TABLESAMPLE (10 PERCENT) REPEATABLE (1) |> DISTRIBUTE BY x |> SORT BY y

-- unread: a pipe with LATERAL VIEW
FROM a |> LATERAL VIEW explode(xs) t AS e |> SELECT e

-- ours: a pipe with windows
FROM a |> SELECT sum(x) OVER w AS s WINDOW w AS (PARTITION BY y) |> WHERE s > 1

-- ours: pipes in a common table expression and in a subquery
WITH c AS (FROM a |> WHERE x = 1) SELECT * FROM (FROM c |> SELECT x) t JOIN b

-- ours: a pipe behind common table expressions
WITH c AS (TABLE a) FROM c |> JOIN b |> SELECT *

-- ours: a pipe behind SELECT
SELECT x FROM a |> WHERE x > 1 |> CLUSTER BY x

-- ours: a pipe without an operator
FROM a |> |> WHERE x IN (TABLE b)
