-- ours: VALUES
INSERT INTO t VALUES (1, 'a'), (2, 'b')

-- ours: the word TABLE
INSERT INTO TABLE s.t SELECT * FROM a

-- ours: a table called table
INSERT INTO table VALUES (1)

-- ours: without INTO's optional words and with backquotes
INSERT INTO `s`.`t x` (`a b`, c) SELECT 1, 2

-- ours: the session's catalog
INSERT INTO spark_catalog.s.t TABLE a

-- ours: columns
INSERT INTO t (id, from, select) SELECT x, y, z FROM a

-- ours: columns and a query in parentheses
INSERT INTO t (id, name) (SELECT x, y FROM a)

-- ours: a query in parentheses
INSERT INTO t (SELECT x, y FROM a)

-- ours: a set operation in parentheses
INSERT INTO t (SELECT x FROM a) UNION ALL (SELECT x FROM b)

-- ours: BY NAME
INSERT INTO t BY NAME SELECT 1 AS id, y AS name FROM s.a

-- ours: FROM, TABLE and VALUES as the query
INSERT INTO t FROM a SELECT x

-- ours: a static partition
INSERT INTO t PARTITION (day = '2024-01-31', hour = 3) SELECT x FROM a

-- ours: a dynamic partition
INSERT INTO t PARTITION (day = DATE '2024-01-31', hour) SELECT x, h FROM a

-- ours: a partition and columns
INSERT INTO t PARTITION (day) (id, day) SELECT x, d FROM a

-- ours: OVERWRITE
INSERT OVERWRITE t SELECT * FROM a

-- ours: OVERWRITE TABLE with a partition that may exist
INSERT OVERWRITE TABLE s.t PARTITION (day = '2024-01-31') IF NOT EXISTS SELECT x FROM a

-- ours: OVERWRITE BY NAME
INSERT OVERWRITE t BY NAME SELECT 1 AS id FROM a

-- ours: OVERWRITE with columns
INSERT OVERWRITE TABLE t (id, name) VALUES (1, 'a')

-- ours: common table expressions in front
WITH c AS (SELECT * FROM a) INSERT INTO t SELECT * FROM c JOIN b

-- ours: common table expressions behind
INSERT INTO t WITH c AS (SELECT * FROM a) SELECT * FROM c JOIN b

-- ours: common table expressions in front and behind
WITH c AS (TABLE a) INSERT OVERWRITE t WITH d AS (SELECT * FROM c) SELECT * FROM d

-- ours: the target is read
INSERT INTO t SELECT max(id) + 1 FROM t

-- ours: a common table expression called like the target
WITH t AS (SELECT * FROM a) INSERT INTO t SELECT * FROM t

-- ours: DEFAULT as a value
INSERT INTO t VALUES (1, DEFAULT), (DEFAULT, 2)

-- ours: subqueries in VALUES
INSERT INTO t VALUES ((SELECT max(x) FROM a), 2)

-- ours: a pipe
INSERT INTO t FROM a |> WHERE x > 1 |> SELECT x

-- ours: IDENTIFIER as the target
INSERT INTO IDENTIFIER('s.t') SELECT * FROM a

-- ours: REPLACE WHERE
INSERT INTO t REPLACE WHERE day = '2024-01-31' SELECT * FROM a

-- ours: REPLACE WHERE with a subquery
INSERT INTO TABLE s.t REPLACE WHERE day IN (SELECT d FROM b) SELECT * FROM a

-- ours: REPLACE WHERE with a query in parentheses
INSERT INTO t REPLACE WHERE (day > '2024-01-31') (SELECT * FROM a)

-- ours: REPLACE WHERE with VALUES
INSERT INTO t REPLACE WHERE id = 1 VALUES (1, 'a')

-- refused "are not supported": options of the write
INSERT INTO t WITH ('write.split-size' = 10) SELECT * FROM a

-- refused "REPLACE": REPLACE USING
INSERT INTO t REPLACE USING (day) SELECT * FROM a

-- refused "REPLACE": REPLACE ON
INSERT INTO t AS x REPLACE ON x.id = a.id SELECT * FROM a

-- ours: WITH SCHEMA EVOLUTION
INSERT WITH SCHEMA EVOLUTION INTO t SELECT * FROM a

-- ours: a directory
INSERT OVERWRITE DIRECTORY '/tmp/x' USING parquet OPTIONS ('compression' = 'zstd') SELECT * FROM a

-- ours: a local directory
INSERT OVERWRITE LOCAL DIRECTORY '/tmp/x' ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' SELECT * FROM s.a JOIN b

-- ours: a directory without a path
INSERT OVERWRITE DIRECTORY USING json OPTIONS (path '/tmp/x', select 'y') TABLE a

-- ours: a directory and a query in parentheses
INSERT OVERWRITE DIRECTORY '/tmp/x' USING csv (SELECT * FROM a)

-- refused "FROM … INSERT is not supported": several inserts
FROM a INSERT INTO t SELECT x INSERT INTO s.u SELECT y WHERE y > 1

-- refused "FROM … INSERT is not supported": several inserts of a subquery
FROM (SELECT * FROM a JOIN b) q INSERT OVERWRITE TABLE t SELECT q.x INSERT OVERWRITE TABLE u SELECT q.y

-- refused "FROM … INSERT is not supported": several inserts behind common table expressions
WITH c AS (SELECT * FROM a) FROM c INSERT INTO t SELECT x INSERT INTO u SELECT y

-- ours: files
LOAD DATA INPATH '/tmp/x' INTO TABLE t

-- ours: local files into a partition
LOAD DATA LOCAL INPATH '/tmp/x' OVERWRITE INTO TABLE s.t PARTITION (day = '2024-01-31')

-- ours: a comment between all words
INSERT /* a */ INTO /* b */ TABLE -- c
 t /* d */ (id /* e */) /* f */ VALUES /* g */ (1)

-- ours: a semicolon behind it
INSERT INTO t SELECT * FROM a;

-- ours: a table called local
INSERT INTO local SELECT * FROM a

-- ours: an alias behind VALUES
INSERT INTO t (a) VALUES (1), ((SELECT max(x) FROM b)) AS x

-- unread: no values but defaults
INSERT INTO t DEFAULT VALUES

-- unread: no query
INSERT INTO t

-- unread: no target
INSERT INTO SELECT * FROM

-- unread: columns without a query
INSERT INTO t (a, b)

-- unread: two targets
INSERT INTO t, u SELECT 1

-- ours: a query of a column called case
INSERT INTO t SELECT case FROM s

-- unread: a field of a struct in the list of columns
INSERT INTO t (a, s.f) SELECT 1, 2
