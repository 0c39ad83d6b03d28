-- ours: nothing but a value
SELECT 1

-- ours: all columns of one table
SELECT * FROM orders

-- ours: a table with its schema
SELECT o.id, o.total FROM sales.orders o

-- ours: a table with its schema and the session's catalog
SELECT id FROM spark_catalog.sales.orders

-- ours: a table of another catalog and a managed one
SELECT l.id FROM lake.sales.orders l JOIN sales.items i ON l.id = i.order_id

-- ours: backquoted parts
SELECT `o`.`id` FROM `sales`.`order lines` AS `o`

-- ours: a dot and a backquote inside of a name
SELECT * FROM `sales.orders` JOIN `it``s` USING (id)

-- ours: blanks and comments between the parts of a name
SELECT * FROM sales /* the schema */ . -- and its table
  orders WHERE id > 1

-- ours: a name that begins with a digit
SELECT * FROM 2024_orders JOIN sales.3rd_party ON 1_key = 2_key

-- ours: letters beyond ASCII in backquotes
SELECT `größe` FROM `bücher` JOIN `sales`.`注文`

-- ours: a keyword as the name of a table
SELECT * FROM table1, `select`, date, timestamp, year

-- ours: non-reserved keywords as names of tables
SELECT * FROM window JOIN limit JOIN partition JOIN view JOIN values1

-- ours: non-reserved keywords as aliases of tables
SELECT * FROM orders first, items last, customers array, refunds map1

-- ours: keywords as names of columns
SELECT date, year, values, first, last, `from`, interval FROM sales.orders

-- ours: FROM and TO as columns
SELECT from, to FROM mails

-- ours: FROM as a qualified column
SELECT m.from, m.to, m.select FROM mails m

-- ours: a column FROM in CASE, after WHEN
SELECT CASE WHEN from = 1 THEN b END FROM t

-- ours: a column FROM alone after WHEN
SELECT a AS b, CASE WHEN from THEN 1 WHEN b THEN from ELSE from END FROM t

-- ours: a column FROM in functions
SELECT cast(from AS int), try_cast(from AS string), max(from), abs(from + 1), coalesce(from, 2), sum(m.from) FROM t m

-- ours: a column FROM in a condition in parentheses
SELECT a FROM t WHERE (from = 1) OR (a AND from) OR a IN (from, 2)

-- ours: an operator after FROM in parentheses names a table
SELECT a FROM t WHERE (from IS NULL) OR (from AND b)

-- ours: a subquery that begins with FROM
SELECT a FROM t WHERE b IN (FROM u SELECT c) AND EXISTS (FROM s.v |> WHERE d = 1)

-- ours: implicit aliases that are keywords
SELECT a table, b view, c limit, d partition FROM orders

-- ours: an alias that is a keyword, then another table
SELECT o.id FROM orders when JOIN items then ON when.id = then.id

-- ours: aliases of a select list with AS
SELECT a AS from, b AS where, c AS join FROM orders

-- ours: an alias list
SELECT (1, 2) AS (a, b), explode(m) AS (k, v) FROM orders

-- ours: DISTINCT and ALL
SELECT DISTINCT a FROM orders UNION SELECT ALL a FROM refunds

-- ours: a star without some columns
SELECT * EXCEPT (a, b) FROM orders

-- ours: a qualified star without some columns
SELECT o.* EXCEPT (a), i.* FROM orders o, items i

-- ours: WHERE, GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET
SELECT a, count(*) FROM orders WHERE b > 1 GROUP BY a HAVING count(*) > 2 ORDER BY a DESC NULLS LAST LIMIT 3 OFFSET 1

-- ours: GROUP BY ALL and ORDER BY ALL
SELECT a, sum(b) FROM sales.orders GROUP BY ALL ORDER BY ALL

-- ours: grouping sets
SELECT a, b, grouping_id(a, b) FROM orders GROUP BY GROUPING SETS ((a, b), (a), ())

-- ours: cube and rollup
SELECT a, b FROM orders GROUP BY CUBE (a, b) UNION ALL SELECT a, b FROM refunds GROUP BY ROLLUP (a, (b, c))

-- ours: the older spelling of rollup
SELECT a, b, sum(c) FROM orders GROUP BY a, b WITH ROLLUP

-- ours: SORT BY, DISTRIBUTE BY, CLUSTER BY
(SELECT a FROM orders DISTRIBUTE BY a SORT BY b) UNION ALL (SELECT a FROM refunds CLUSTER BY a)

-- ours: QUALIFY
SELECT a, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM orders QUALIFY n = 1

-- ours: QUALIFY with a subquery
SELECT a FROM orders QUALIFY rank() OVER (ORDER BY a) IN (SELECT n FROM ranks)

-- ours: named windows
SELECT sum(a) OVER w, avg(a) OVER (v) FROM orders WINDOW w AS (PARTITION BY b), v AS (w)

-- ours: window frames
SELECT sum(a) OVER (ORDER BY t RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM sales.orders

-- ours: an alias that is called window
SELECT window.start FROM orders window

-- ours: a hint
SELECT /*+ BROADCAST(o) */ * FROM orders o JOIN items i ON o.id = i.id

-- ours: several hints
SELECT /*+ MERGE(o), COALESCE(3) */ /*+ REPARTITION(5, a) */ a FROM sales.orders o

-- ours: a hint that names a table with its schema
SELECT /*+ BROADCAST(sales.orders) */ * FROM sales.orders JOIN items USING (id)

-- ours: a comment that looks like a hint
SELECT /* + BROADCAST(a) FROM x */ a FROM orders

-- ours: comments around everything
/* from a */ SELECT -- from b
 /* outer /* from c */ from d */ a /* , */ FROM /* , e */ orders -- join f
/* end */

-- ours: a line comment that goes on behind a backslash
SELECT a -- one \
from b
FROM orders

-- ours: names of tables in strings
SELECT 'FROM a JOIN b', "FROM c", r'\FROM d', 'it''s FROM e', 'a\'FROM f' FROM orders

-- ours: strings side by side
SELECT 'FROM ' 'a' "b" FROM orders WHERE x = 'y' 'z'

-- ours: FROM first
FROM orders SELECT a WHERE b = 1

-- ours: FROM alone
FROM sales.orders

-- ours: FROM with a join and LATERAL VIEW, then SELECT
FROM orders o JOIN items i ON o.id = i.id LATERAL VIEW explode(i.tags) t AS tag SELECT o.id, tag

-- ours: TABLE
TABLE sales.orders

-- ours: TABLE in a set operation
TABLE orders UNION ALL TABLE `refunds` ORDER BY id LIMIT 2

-- ours: VALUES
VALUES (1, 'a'), (2, 'b') AS t(id, name)

-- ours: VALUES with a subquery
VALUES ((SELECT max(a) FROM orders)), (2)

-- ours: an inline table in FROM
SELECT t.a FROM VALUES (1, 2), (3, 4) AS t(a, b), orders o

-- ours: an inline table with a subquery, and a table behind it
SELECT * FROM VALUES ((SELECT max(a) FROM refunds)) v JOIN orders ON true

-- ours: a script over columns
SELECT TRANSFORM (a, b) USING 'cat' AS (x, y) FROM sales.orders

-- ours: MAP as a query
MAP a, b USING 'cat' AS x FROM orders

-- ours: REDUCE as a query in a subquery
FROM (FROM orders SELECT a DISTRIBUTE BY a) m REDUCE m.a USING 'cat' AS x

-- ours: a query in parentheses
((SELECT a FROM orders))

-- ours: queries in parentheses with set operations
(SELECT a FROM orders) UNION (SELECT a FROM refunds EXCEPT SELECT a FROM items) ORDER BY a

-- ours: semicolons behind a query
SELECT a FROM orders;;

-- ours: many lines
SELECT
  a
  , b
FROM
  sales
  .orders
WHERE
  c IN (
    SELECT c FROM
    items
  )

-- ours: a parameter with a name
SELECT :a, :b + 1 FROM orders WHERE c = :c LIMIT :n

-- ours: parameters without names
SELECT ? FROM orders WHERE c BETWEEN ? AND ?

-- ours: IDENTIFIER with a literal
SELECT * FROM IDENTIFIER('sales.orders') o WHERE o.a = 1

-- ours: IDENTIFIER with joined literals
SELECT * FROM IDENTIFIER('sales.' || 'orders')

-- ours: IDENTIFIER as a column and as a function
SELECT IDENTIFIER('a'), IDENTIFIER('abs')(b) FROM orders

-- ours: a table that is called identifier
SELECT * FROM identifier JOIN orders

-- ours: grouping sets behind columns
SELECT a, b FROM orders GROUP BY a, b GROUPING SETS ((a), (b))

-- ours: a column called FROM that gets the name of a table
SELECT a, FROM orders

-- ours: ONLY is a table
SELECT * FROM ONLY orders

-- ours: a column called case
SELECT case FROM orders

-- ours: a column called case in a condition
SELECT a FROM orders WHERE case = 'x' AND b IN (SELECT b FROM items)

-- ours: an alias called case, and a join
SELECT s AS case FROM orders JOIN items ON orders.a = items.a AND CASE WHEN b THEN c END

-- ours: an alias called case without AS, in a common table expression
WITH q AS (SELECT s case FROM orders) SELECT * FROM q JOIN items

-- ours: aliases called case and end
SELECT a case FROM orders UNION SELECT b end FROM refunds

-- ours: CASE over columns called by keywords
SELECT CASE from WHEN 1 THEN case ELSE end END, CASE a IS DISTINCT FROM b WHEN true THEN from END FROM orders

-- unread: a select list that ends in a comma
SELECT a, FROM orders WHERE

-- unread: two tables without a comma or a join
SELECT * FROM orders o items i

-- unread: a parenthesis that is never closed
SELECT * FROM (SELECT a FROM orders

-- unread: a quote that is never closed
SELECT 'a FROM orders

-- unread: a comment that is never closed
SELECT a /* FROM orders

-- unread: two statements
SELECT 1; SELECT 2

-- unread: words
these are only words
