-- ours: tables with commas
SELECT * FROM a, b.c, d e, f AS g

-- ours: inner, left, right, full and cross joins
SELECT * FROM a INNER JOIN b ON a.x = b.x LEFT OUTER JOIN c USING (x) RIGHT JOIN d ON true FULL JOIN e USING (x, y) CROSS JOIN f

-- ours: semi and anti joins
SELECT * FROM a LEFT SEMI JOIN b ON a.x = b.x SEMI JOIN c ON a.x = c.x LEFT ANTI JOIN d USING (x) ANTI JOIN e ON true

-- ours: natural joins
SELECT * FROM a NATURAL JOIN b NATURAL LEFT OUTER JOIN c

-- ours: joins in parentheses
SELECT * FROM (a JOIN b ON a.x = b.x) JOIN (c LEFT JOIN (d CROSS JOIN e) ON c.y = d.y) ON a.x = c.x

-- ours: joins in parentheses with an alias
SELECT t.x FROM (a CROSS JOIN s.b) AS t

-- unread: conditions behind all joins
SELECT * FROM a JOIN b JOIN c ON b.x = c.x ON a.x = b.x

-- ours: a join condition with a subquery
SELECT * FROM a JOIN b ON a.x IN (SELECT x FROM c) AND EXISTS (SELECT 1 FROM s.d WHERE d.x = b.x)

-- ours: joins of subqueries
SELECT * FROM (SELECT x FROM a) l FULL OUTER JOIN (SELECT x FROM s.b) r ON l.x = r.x

-- ours: lateral subqueries
SELECT * FROM a, LATERAL (SELECT max(y) FROM b WHERE b.x = a.x) m, LATERAL (TABLE c)

-- ours: lateral joins
SELECT * FROM a JOIN LATERAL (SELECT * FROM s.b WHERE b.x = a.x) ON true LEFT JOIN LATERAL explode(a.y) t(z)

-- ours: a lateral table function
SELECT * FROM a, LATERAL explode(a.items) AS e(item), b

-- ours: LATERAL VIEW
SELECT * FROM a LATERAL VIEW explode(m) t AS k, v LATERAL VIEW OUTER posexplode(l) AS p, e WHERE k IN (SELECT k FROM b)

-- ours: LATERAL VIEW with a subquery
SELECT e FROM a LATERAL VIEW explode((SELECT collect_list(x) FROM b)) t AS e

-- ours: LATERAL VIEW behind a join
SELECT * FROM a JOIN b USING (x) LATERAL VIEW explode(y) t AS z

-- ours: PIVOT
SELECT * FROM a PIVOT (sum(x) AS s, max(y) FOR q IN ('Q1' AS one, 'Q2')) p JOIN b USING (z)

-- ours: PIVOT over columns
SELECT * FROM (SELECT x, y, z FROM s.a) PIVOT (sum(z) FOR (x, y) IN ((1, 2) AS o, (3, 4)))

-- ours: UNPIVOT
SELECT * FROM a UNPIVOT (v FOR n IN (x, y AS `why`)) u, b

-- ours: UNPIVOT with nulls and columns in groups
SELECT * FROM a UNPIVOT INCLUDE NULLS ((v, w) FOR n IN ((x1, y1) AS one, (x2, y2)))

-- ours: tables called pivot and unpivot
SELECT * FROM pivot JOIN unpivot ON pivot.x = unpivot.x

-- ours: samples
SELECT * FROM a TABLESAMPLE (10 PERCENT) x, b TABLESAMPLE (5 ROWS), c TABLESAMPLE (BUCKET 1 OUT OF 4)

-- ours: a repeatable sample
SELECT * FROM s.a TABLESAMPLE (10 PERCENT) REPEATABLE (7) AS t JOIN b

-- unread: a sample of bytes, and of a bucket on an expression
SELECT * FROM a TABLESAMPLE (1000B) UNION ALL SELECT * FROM b TABLESAMPLE (BUCKET 1 OUT OF 4 ON rand())

-- ours: a version of a table
SELECT * FROM a VERSION AS OF 3 JOIN s.b FOR VERSION AS OF 'tag' b ON a.x = b.x

-- ours: SYSTEM_VERSION and SYSTEM_TIME
SELECT * FROM a FOR SYSTEM_VERSION AS OF 3, b FOR SYSTEM_TIME AS OF '2024-01-31'

-- ours: a version behind an at sign
SELECT * FROM a@v3, s.b@v7 x

-- ours: a time of a table
SELECT * FROM a TIMESTAMP AS OF '2024-01-31 12:00:00' AS x JOIN b TIMESTAMP AS OF current_timestamp() - INTERVAL 1 DAY

-- ours: a time from a subquery
SELECT * FROM a TIMESTAMP AS OF (SELECT max(t) FROM b)

-- ours: a cast as the time of a table
SELECT * FROM a TIMESTAMP AS OF CAST('2024-01-31' AS TIMESTAMP) WHERE x = 1

-- ours: columns and tables called version and timestamp
SELECT version, timestamp FROM version JOIN timestamp USING (x)

-- ours: the options of a table
SELECT * FROM a WITH ('split-size' = 5, `key` = 'v') JOIN s.b WITH (`x` = 'y') c

-- ours: a watermark
SELECT * FROM a WATERMARK t DELAY OF INTERVAL 10 SECONDS AS w JOIN b

-- ours: a watermark over an expression
SELECT * FROM s.a WATERMARK to_timestamp(t) AS ts DELAY OF INTERVAL 1 MINUTE

-- ours: table functions
SELECT * FROM range(10) r, explode(array(1, 2)) AS t(x), a

-- ours: a table function with a schema, and with names of arguments
SELECT * FROM s.f(a => 1, b => 'x') t JOIN a

-- ours: a table argument
SELECT * FROM f(TABLE(a), 1), g(TABLE(s.b))

-- ours: a table argument with partitions and an order
SELECT * FROM f(TABLE(a) PARTITION BY x ORDER BY y DESC), g(TABLE(b) WITH SINGLE PARTITION)

-- unread: a table argument without parentheses
SELECT * FROM f(TABLE a, 1)

-- ours: a table argument by name
SELECT * FROM f(input => TABLE(a) PARTITION BY (x, y), n => 3)

-- ours: a table argument that is a query
SELECT * FROM f(TABLE(SELECT x FROM a WHERE y IN (SELECT y FROM b)))

-- ours: a table argument that is TABLE
SELECT * FROM f(TABLE(TABLE a))

-- ours: a table argument that is VALUES
SELECT * FROM f(TABLE(VALUES (1), (2))), a

-- ours: a subquery as the argument of a table function
SELECT * FROM range((SELECT max(x) FROM a)) JOIN b

-- ours: a stream
SELECT * FROM STREAM a

-- ours: a stream in parentheses
SELECT * FROM STREAM(s.a)

-- ours: a file
SELECT * FROM parquet.`/data/x.parquet` p JOIN a

-- ours: files of other formats
SELECT * FROM csv.`data/*.csv` UNION ALL SELECT * FROM json.`file:/x/y.json`

-- ours: aliases with columns
SELECT t.x FROM a AS t(x, y) JOIN s.b u(z, w) ON t.x = u.z

-- ours: aliases that look like clauses
SELECT * FROM a offset, b qualify, c window, d group

-- ours: an alias called values
SELECT values.x FROM a values

-- ours: a table called values
SELECT values.x FROM values

-- ours: tables called values with aliases, conditions and joins
SELECT * FROM values v JOIN values AS w ON v.x = w.x, values t(x, y), values WHERE x = 1

-- ours: a join of a table called values in parentheses
SELECT * FROM (values JOIN a USING (x)), (SELECT 1 FROM values)

-- ours: a column called values in parentheses
SELECT (values), (values * 2), (values IS NULL), (values.x), (values AND true) FROM a WHERE (values) IN (SELECT y FROM b)

-- ours: rows that begin with words
SELECT * FROM VALUES named_struct('x', 1) AS t, a, VALUES date'2024-01-31', null AS u, b

-- ours: rows that begin with signs and CASE
SELECT * FROM VALUES -1, +2 AS t, a WHERE x IN (VALUES CASE WHEN true THEN 1 END) AND y IN (VALUES array(1)[0])

-- ours: a table called values and a column of its name
SELECT values FROM values values ORDER BY values

-- ours: system tables of a table
SELECT * FROM `orders$snapshots` s JOIN sales.`orders$files` f

-- ours: a table twice
SELECT * FROM s.a JOIN s.a AS other ON a.x = other.x

-- ours: tables that share their last name
SELECT one.a.x, two.a.x FROM one.a JOIN two.a ON one.a.x = two.a.x

-- unread: an as-of join, unless a setting allows it
SELECT * FROM a ASOF JOIN b MATCH_CONDITION (a.t >= b.t) ON a.x = b.x

-- ours: tables called asof, approx and exact
SELECT * FROM asof JOIN approx JOIN exact

-- ours: a join with the nearest rows
SELECT * FROM a JOIN b APPROX NEAREST 3 BY DISTANCE abs(a.x - b.x)

-- ours: a join with the exactly nearest rows
SELECT * FROM a INNER JOIN s.b EXACT NEAREST BY SIMILARITY a.x * b.x

-- ours: the changes of a table
SELECT * FROM a CHANGES FROM VERSION 1 TO VERSION 3

-- ours: the changes of a table since a time
SELECT * FROM s.a CHANGES FROM TIMESTAMP '2024-01-31' c

-- ours: UNNEST
SELECT * FROM a, UNNEST(a.xs) AS u(x)

-- ours: JSON_TABLE
SELECT * FROM a, JSON_TABLE(a.doc, '$.items[*]' COLUMNS (id INT PATH '$.id')) AS j
