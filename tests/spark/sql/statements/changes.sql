-- ours: UPDATE
UPDATE t SET a = 1

-- ours: UPDATE with WHERE
UPDATE s.t SET a = a + 1, b = 'FROM x' WHERE c > 2

-- ours: UPDATE with an alias
UPDATE s.t AS u SET u.a = 1, b = u.c WHERE u.d IS NULL

-- ours: UPDATE with an alias without AS
UPDATE t u SET a = 1 WHERE u.b = 2

-- ours: UPDATE with subqueries
UPDATE t SET a = (SELECT max(x) FROM b WHERE b.id = t.id) WHERE id IN (SELECT id FROM s.c)

-- ours: UPDATE with qualified columns
UPDATE s.t SET s.t.a = 1, t.b = s.t.c

-- ours: UPDATE with backquotes
UPDATE `s`.`t` SET `a b` = `c``d`

-- ours: UPDATE of columns called like keywords
UPDATE t SET from = where, set = 1, values = 2 WHERE from = 3

-- ours: UPDATE of a value called where
UPDATE t SET v = where

-- ours: UPDATE with CASE
UPDATE t SET a = CASE WHEN b THEN c ELSE d END WHERE CASE WHEN e THEN f END

-- ours: UPDATE with IS DISTINCT FROM
UPDATE t SET a = b IS DISTINCT FROM c WHERE d IS NOT DISTINCT FROM e

-- ours: UPDATE to the default
UPDATE t SET a = DEFAULT

-- ours: UPDATE behind common table expressions
WITH c AS (SELECT * FROM b) UPDATE t SET a = (SELECT max(x) FROM c) WHERE id IN (SELECT id FROM c)

-- ours: UPDATE of IDENTIFIER
UPDATE IDENTIFIER('s.t') SET a = 1

-- ours: UPDATE of a field of a struct
UPDATE t SET a.b.c.d = 1

-- ours: DELETE
DELETE FROM t

-- ours: DELETE with WHERE
DELETE FROM s.t WHERE a = 1 AND b = 'WHERE'

-- ours: DELETE with an alias
DELETE FROM s.t AS u WHERE u.a > 1

-- ours: DELETE with subqueries
DELETE FROM t WHERE EXISTS (SELECT 1 FROM b WHERE b.id = t.id) OR id NOT IN (TABLE s.c)

-- ours: DELETE with the name of the table in front of a column
DELETE FROM s.t WHERE s.t.a = (SELECT max(s.t.a) FROM s.t)

-- ours: DELETE behind common table expressions
WITH c AS (SELECT * FROM b), d AS (TABLE c) DELETE FROM t WHERE id IN (SELECT id FROM d)

-- ours: DELETE with BETWEEN and LIKE
DELETE FROM t WHERE a BETWEEN 1 AND 2 OR b LIKE 'x%'

-- ours: MERGE of a table
MERGE INTO t USING a ON t.id = a.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *

-- ours: MERGE of a table with its schema and aliases
MERGE INTO s.t AS x USING s.a AS y ON x.id = y.id WHEN MATCHED THEN DELETE

-- ours: MERGE of a query
MERGE INTO t USING (SELECT * FROM a JOIN b USING (id)) q ON t.id = q.id WHEN MATCHED THEN UPDATE SET n = q.n

-- ours: MERGE of VALUES
MERGE INTO t USING (VALUES (1, 'a')) AS v ON t.id = v.col1 WHEN NOT MATCHED THEN INSERT (id, n) VALUES (v.col1, v.col2)

-- ours: MERGE of a query with common table expressions
MERGE INTO t USING (WITH c AS (TABLE a) SELECT * FROM c) q ON t.id = q.id WHEN MATCHED THEN UPDATE SET *

-- ours: MERGE with all clauses
MERGE INTO s.t USING a ON t.id = a.id AND a.x IS NOT NULL
WHEN MATCHED AND a.gone THEN DELETE
WHEN MATCHED AND a.n > t.n THEN UPDATE SET t.n = a.n, m = a.m + 1
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED AND a.new THEN INSERT (id, n) VALUES (a.id, DEFAULT)
WHEN NOT MATCHED BY TARGET THEN INSERT *
WHEN NOT MATCHED BY SOURCE AND t.old THEN UPDATE SET n = 0
WHEN NOT MATCHED BY SOURCE THEN DELETE

-- ours: MERGE with subqueries
MERGE INTO t USING a ON t.id = a.id
WHEN MATCHED AND a.x IN (SELECT x FROM b) THEN UPDATE SET n = (SELECT max(n) FROM s.c)
WHEN NOT MATCHED AND EXISTS (SELECT 1 FROM d WHERE d.id = a.id) THEN INSERT (id, n) VALUES (a.id, (SELECT 1 FROM e))

-- ours: MERGE with a subquery in ON
MERGE INTO t USING a ON t.id = a.id AND t.x IN (SELECT x FROM b) WHEN MATCHED THEN DELETE

-- ours: MERGE with CASE
MERGE INTO t USING a ON CASE WHEN t.id = a.id THEN true END
WHEN MATCHED AND CASE WHEN a.x THEN true ELSE false END THEN UPDATE SET n = CASE WHEN a.y THEN 1 END

-- ours: MERGE behind common table expressions
WITH c AS (SELECT * FROM a) MERGE INTO t USING c ON t.id = c.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *

-- ours: MERGE of a common table expression in a subquery
WITH c AS (SELECT * FROM a) MERGE INTO t USING (SELECT * FROM c JOIN b) q ON t.id = q.id WHEN MATCHED THEN DELETE

-- ours: MERGE with an alias that is a keyword
MERGE INTO t when USING a then ON when.id = then.id WHEN MATCHED THEN UPDATE SET n = then.n

-- ours: MERGE of the target itself
MERGE INTO s.t x USING s.t y ON x.id = y.parent WHEN MATCHED THEN UPDATE SET n = y.n

-- ours: MERGE with backquotes
MERGE INTO `s`.`t` AS `x y` USING `a b` ON `x y`.id = `a b`.id WHEN MATCHED THEN UPDATE SET `n m` = `a b`.`n m`

-- ours: MERGE WITH SCHEMA EVOLUTION
MERGE WITH SCHEMA EVOLUTION INTO t USING a ON t.id = a.id WHEN NOT MATCHED THEN INSERT *

-- ours: MERGE of a version of a table
MERGE INTO t USING (SELECT * FROM a VERSION AS OF 3) v ON t.id = v.id WHEN MATCHED THEN DELETE

-- ours: MERGE into IDENTIFIER of IDENTIFIER
MERGE INTO IDENTIFIER('s.t') x USING IDENTIFIER('s.a') y ON x.id = y.id WHEN MATCHED THEN DELETE

-- unread: UPDATE without an assignment
UPDATE t SET WHERE a = 1

-- unread: UPDATE without SET
UPDATE t a = 1

-- unread: DELETE without FROM
DELETE t WHERE a = 1

-- unread: UPDATE FROM
UPDATE t SET a = b.a FROM b WHERE t.id = b.id

-- unread: DELETE USING
DELETE FROM t USING b WHERE t.id = b.id

-- unread: MERGE without a clause
MERGE INTO t USING a ON t.id = a.id

-- unread: MERGE without ON
MERGE INTO t USING a WHEN MATCHED THEN DELETE

-- unread: MERGE with an action that does not fit
MERGE INTO t USING a ON t.id = a.id WHEN MATCHED THEN INSERT *
