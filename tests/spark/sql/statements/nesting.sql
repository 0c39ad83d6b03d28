-- ours: a common table expression
WITH c AS (SELECT * FROM a) SELECT * FROM c

-- ours: common table expressions that read each other
WITH c AS (SELECT * FROM a), d AS (SELECT * FROM c JOIN s.b) SELECT * FROM d, c, e

-- ours: a common table expression is not seen before it is defined
WITH c AS (SELECT * FROM d), d AS (SELECT 1 AS x) SELECT * FROM c, d

-- ours: a common table expression that is called like the table it reads
WITH a AS (SELECT * FROM a WHERE x = 1) SELECT * FROM a

-- ours: a qualified name is no common table expression
WITH a AS (SELECT 1) SELECT * FROM s.a, a

-- ours: common table expressions without regard to case
WITH Recent AS (SELECT * FROM a) SELECT * FROM RECENT JOIN `recent` r ON true

-- ours: columns of a common table expression
WITH c(x, y) AS (SELECT p, q FROM a), d (z) AS (TABLE b) SELECT x, z FROM c, d

-- ours: a common table expression without AS
WITH c (SELECT x FROM a) SELECT * FROM c

-- ours: nested common table expressions
WITH c AS (WITH d AS (SELECT * FROM a) SELECT * FROM d JOIN b) SELECT * FROM c JOIN d

-- ours: an inner common table expression hides an outer one
WITH c AS (SELECT 1 AS x) SELECT * FROM (WITH c AS (SELECT * FROM a) SELECT * FROM c) t, c

-- ours: an inner common table expression that reads the outer one of its name
WITH c AS (SELECT 1 AS x) SELECT * FROM (WITH c AS (SELECT * FROM c JOIN b) SELECT * FROM c) t

-- ours: common table expressions in subqueries of expressions
SELECT (WITH c AS (SELECT max(x) FROM a) SELECT * FROM c) FROM b WHERE y IN (WITH d AS (TABLE e) SELECT * FROM d)

-- ours: a common table expression ends with its parenthesis
SELECT * FROM (WITH c AS (SELECT 1) SELECT * FROM c) t JOIN c

-- ours: a common table expression read in an expression
WITH c AS (SELECT x FROM a) SELECT (SELECT max(x) FROM c) FROM b WHERE EXISTS (SELECT 1 FROM c, d)

-- ours: recursion
WITH RECURSIVE r(n) AS (SELECT x FROM a UNION ALL SELECT n + 1 FROM r JOIN b WHERE n < 9) SELECT * FROM r

-- ours: recursion with a limit of levels
WITH RECURSIVE r MAX RECURSION LEVEL 50 AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r, a

-- ours: several recursive common table expressions
WITH RECURSIVE r AS (SELECT 1 AS n), t(n) AS (TABLE r UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t, a

-- ours: a common table expression called recursive is one called AS
WITH recursive AS (SELECT * FROM a) SELECT * FROM recursive

-- ours: a common table expression called like a keyword
WITH select1 AS (SELECT * FROM a), view AS (SELECT * FROM b), limit AS (TABLE c) SELECT * FROM view, limit, select1

-- ours: common table expressions before a query in parentheses
WITH c AS (SELECT * FROM a) (SELECT * FROM c UNION ALL SELECT * FROM b) ORDER BY 1

-- ours: common table expressions before VALUES and TABLE
WITH c AS (SELECT * FROM a) TABLE c

-- ours: common table expressions before FROM
WITH c AS (SELECT * FROM a) FROM c JOIN b SELECT *

-- ours: a common table expression in a lateral subquery
WITH c AS (SELECT * FROM a) SELECT * FROM b, LATERAL (SELECT * FROM c WHERE c.x = b.x)

-- ours: a common table expression as a table argument
WITH c AS (SELECT * FROM a) SELECT * FROM f(TABLE(c)), g(TABLE(b))

-- ours: a common table expression under another alias
WITH c AS (SELECT * FROM a) SELECT b.x FROM c b JOIN b d

-- ours: a subquery in FROM
SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM a) b) c) d

-- ours: a subquery without an alias
SELECT x FROM (SELECT x FROM a), (TABLE b), (VALUES (1)), (FROM c)

-- ours: a subquery in the select list
SELECT (SELECT max(x) FROM a) AS m, (SELECT 1) + (SELECT min(x) FROM s.b) FROM c

-- ours: subqueries in WHERE
SELECT * FROM a WHERE x IN (SELECT x FROM b) AND y NOT IN (TABLE c) AND NOT EXISTS (SELECT 1 FROM s.d) AND z = (SELECT max(z) FROM e)

-- ours: subqueries with several columns
SELECT * FROM a WHERE (x, y) IN (SELECT x, y FROM b)

-- ours: subqueries in HAVING, ORDER BY and GROUP BY
SELECT x FROM a GROUP BY x, (SELECT 1 FROM b) HAVING count(*) > (SELECT avg(n) FROM c) ORDER BY (SELECT max(y) FROM d)

-- ours: a subquery in LIMIT
SELECT * FROM a LIMIT (SELECT 3)

-- ours: subqueries in CASE
SELECT CASE WHEN EXISTS (FROM a) THEN (SELECT x FROM b) ELSE (SELECT y FROM c) END FROM d

-- ours: subqueries in functions
SELECT coalesce((SELECT max(x) FROM a), 0), greatest(1, (SELECT 2 FROM b)), if((SELECT true FROM c), 1, 2)

-- ours: subqueries in BETWEEN
SELECT * FROM a WHERE x BETWEEN (SELECT min(x) FROM b) AND (SELECT max(x) FROM c)

-- ours: subqueries in a window
SELECT sum(x) OVER (PARTITION BY (SELECT 1 FROM b) ORDER BY y) FROM a

-- ours: subqueries in a FILTER
SELECT count(*) FILTER (WHERE x IN (SELECT x FROM b)) FROM a

-- ours: subqueries in a struct and its field
SELECT (SELECT struct(x) FROM a).x, array((SELECT 1 FROM b))[0]

-- ours: subqueries compared with ANY-like quantifiers of LIKE
SELECT * FROM a WHERE x LIKE ANY ('b', 'c') AND y LIKE ALL ('FROM d')

-- ours: a correlated subquery
SELECT * FROM s.a WHERE EXISTS (SELECT 1 FROM s.b WHERE s.b.x = s.a.x)

-- ours: set operations
SELECT x FROM a UNION SELECT x FROM b UNION ALL SELECT x FROM c INTERSECT SELECT x FROM d EXCEPT ALL SELECT x FROM e MINUS SELECT x FROM f

-- unread: set operations by name
SELECT x FROM a UNION BY NAME SELECT x FROM b

-- ours: MINUS and DISTINCT
SELECT x FROM a MINUS DISTINCT SELECT x FROM s.b INTERSECT ALL TABLE c

-- ours: set operations of FROM and VALUES
FROM a UNION ALL VALUES (1) UNION ALL TABLE b

-- ours: set operations in a subquery
SELECT * FROM (SELECT x FROM a UNION ALL (SELECT x FROM b LIMIT 1)) t WHERE x IN (TABLE c EXCEPT TABLE d)

-- ours: a set operation that begins with parentheses in FROM
SELECT * FROM ((SELECT x FROM a) UNION ALL (SELECT x FROM b)) t

-- ours: a set operation in IN
SELECT * FROM a WHERE x IN ((SELECT x FROM b) UNION (SELECT x FROM c))

-- ours: many parentheses around a subquery in FROM
SELECT * FROM (((SELECT x FROM a))) t JOIN (((b)))

-- ours: many parentheses around a scalar subquery
SELECT (((SELECT max(x) FROM a))) FROM b

-- ours: many parentheses in EXISTS and IN
SELECT * FROM a WHERE EXISTS ((SELECT 1 FROM b)) OR x IN ((SELECT x FROM c))

-- ours: columns that are named like the start of a query
SELECT (values), (table), (from) FROM a WHERE (map) = (reduce)

-- unread: a common table expression without a query
WITH c AS (SELECT * FROM a)

-- unread: a common table expression that is empty
WITH c AS () SELECT * FROM c

-- unread: a subquery that closes twice
SELECT * FROM (SELECT x FROM a)) t
