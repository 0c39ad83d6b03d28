-- ours: FROM in functions
SELECT extract(YEAR FROM d), trim(BOTH 'x' FROM s), substring(s FROM 2 FOR 3), overlay(s PLACING 'x' FROM 1) FROM a

-- ours: trimming a subquery
SELECT trim(FROM (SELECT max(s) FROM b)), trim(LEADING FROM t) FROM a

-- ours: POSITION and IN
SELECT position('x' IN s), position('y', s) FROM a

-- ours: IS DISTINCT FROM
SELECT a.x IS DISTINCT FROM a.y, x IS NOT DISTINCT FROM (SELECT y FROM b) FROM a

-- ours: lambdas
SELECT transform(xs, x -> x + 1), aggregate(xs, 0, (acc, x) -> acc + x), filter(xs, (x, i) -> i > (SELECT 1)) FROM a

-- ours: a lambda with a CASE
SELECT transform(xs, from -> CASE WHEN from > 1 THEN from END) FROM a

-- ours: named arguments
SELECT mask(s, lowerChar => 'q', digitChar => 'd'), f(x => (SELECT 1 FROM b)) FROM a

-- ours: casts
SELECT CAST(x AS DECIMAL(10, 2)), TRY_CAST(y AS MAP<STRING, ARRAY<INT>>), z::STRUCT<a: INT, b: STRING> FROM a

-- ours: a cast of a subquery
SELECT (SELECT max(x) FROM b)::STRING, CAST((SELECT 1 FROM c) AS INT) FROM a

-- ours: intervals
SELECT d + INTERVAL 1 DAY, d - INTERVAL '1-2' YEAR TO MONTH, INTERVAL '3' HOUR, INTERVAL 2 days 3 hours FROM a

-- ours: literals with types
SELECT DATE '2024-01-31', TIMESTAMP '2024-01-31 00:00:00', X'1F', TIMESTAMP_NTZ '2024-01-31', 1L, 2S, 3Y, 1.5BD, 1e3, .5 FROM a

-- ours: columns called like types
SELECT date, timestamp, interval, x FROM a WHERE date > timestamp

-- ours: operators
SELECT x <=> y, x == y, x <> y, x != y, ~x, x ^ y, x | y & z, x DIV y, x % y, NOT x, !x, x || y, x << 1, y >> 2, z >>> 3 FROM a

-- ours: a division and a comment
SELECT x /* y */ / z, x--y
FROM a

-- ours: fields of a variant
SELECT v:a.b, v:['x y'][0], v:a::INT FROM a

-- ours: a field called like a table
SELECT a.from.to, (x).join, f(y).from, z[0].where FROM a

-- ours: maps and arrays
SELECT m['FROM b'], xs[0], map('k', (SELECT 1 FROM b))['k'] FROM a

-- ours: aggregates with DISTINCT, FILTER and WITHIN GROUP
SELECT count(DISTINCT x, y) FILTER (WHERE z > 1), percentile_cont(0.5) WITHIN GROUP (ORDER BY x DESC), listagg(x, ',') FROM a

-- ours: FIRST and LAST and NULLS
SELECT first(x IGNORE NULLS), last(y) IGNORE NULLS, lag(x) RESPECT NULLS OVER (ORDER BY y), nth_value(x, 2) OVER w FROM a WINDOW w AS (ORDER BY z)

-- ours: LIKE with an escape
SELECT * FROM a WHERE x LIKE 'a/%' ESCAPE '/' AND y RLIKE 'b' AND z ILIKE 'c%' AND w REGEXP 'd'

-- ours: IN with many values
SELECT * FROM a WHERE x IN (1, 2, (SELECT 3 FROM b)) AND (y, z) IN ((1, 2), (3, 4))

-- ours: collations
SELECT x COLLATE UNICODE_CI, y COLLATE utf8_binary = 'a' FROM a ORDER BY x COLLATE UNICODE

-- ours: CASE in all its forms
SELECT CASE x WHEN 1 THEN 'from b' ELSE 'c' END, CASE WHEN y THEN 1 END AS end FROM a

-- ours: CURRENT things without parentheses
SELECT current_date, current_timestamp, current_user, user, session_user, localtime FROM a

-- ours: timestamps as functions
SELECT timestampadd(DAY, 1, t), timestampdiff(HOUR, t, u), dateadd(MONTH, 1, d), datediff(DAY, d, e) FROM a

-- ours: a star in a function
SELECT count(*), struct(*), count(a.*), named_struct('x', (SELECT count(*) FROM b)) FROM a

-- ours: a function with a schema
SELECT s.f(x), spark_catalog.s.g(y), `s`.`h`(z) FROM a

-- ours: functions called like keywords
SELECT left(x, 1), right(y, 2), replace(z, 'a', 'b'), if(x, 1, 2), date(x), values(m), filter(xs, v -> v) FROM a

-- ours: negative numbers and nested parentheses
SELECT -1, - -x, +(x), ((x) + (y)) * (-(z)) FROM a

-- ours: booleans and nulls
SELECT x IS NULL, y IS NOT TRUE, z IS UNKNOWN, NULL, TRUE FROM a

-- ours: a session variable
SELECT session.x, system.session.y, x FROM a WHERE z = session.z

-- ours: IDENTIFIER over a parameter as a column
SELECT IDENTIFIER(:c), IDENTIFIER('a.' || 'x') FROM a

-- ours: an escaped quote at the end of a string
SELECT 'ends with \\', "and \"this\"", 'x' FROM a WHERE y = '\'' OR z = 'FROM b'

-- ours: arrays and structs compared with subqueries
SELECT array_contains((SELECT collect_set(x) FROM b), a.x), struct(1, 2).col1 FROM a

-- ours: a subquery after EXCEPT of a star
SELECT * EXCEPT (x), (SELECT count(*) FROM b) FROM a

-- ours: exists as a function and as a predicate
SELECT exists(xs, x -> x > 1), EXISTS (SELECT 1 FROM b) FROM a

-- ours: any, some and every as aggregates
SELECT any(x), some(y), every(z) FROM a
