-- ours: an INSERT
BEGIN
  INSERT INTO t VALUES (1);
END

-- ours: a query
BEGIN SELECT * FROM t; END

-- spark: no statement
BEGIN END

-- spark: statements without tables
BEGIN
  SELECT 1;
  VALUES (2);
END

-- spark: variables
BEGIN
  DECLARE x INT DEFAULT 1;
  SET x = x + 1;
  SELECT x;
END

-- refused "cannot hold a subquery": a variable from a subquery
BEGIN
  DECLARE x INT DEFAULT (SELECT max(a) FROM t);
  SELECT x;
END

-- refused "script with variables": IF
BEGIN
  IF (SELECT count(*) FROM t) > 1 THEN
    DELETE FROM t;
  ELSEIF EXISTS (SELECT 1 FROM a) THEN
    UPDATE s.t SET a = 1;
  ELSE
    SELECT 2;
  END IF;
END

-- spark: IF without tables
BEGIN
  IF 1 = 1 THEN SELECT 1; ELSE SELECT 2; END IF;
END

-- refused "script with variables": WHILE
BEGIN
  DECLARE n INT DEFAULT 0;
  again: WHILE n < 3 DO
    INSERT INTO s.t SELECT n FROM a;
    SET n = n + 1;
    IF n = 2 THEN LEAVE again; END IF;
  END WHILE again;
END

-- spark: REPEAT and LOOP
BEGIN
  DECLARE n INT DEFAULT 0;
  REPEAT SET n = n + 1; UNTIL n > 3 END REPEAT;
  l: LOOP
    SET n = n + 1;
    IF n > 9 THEN LEAVE l; END IF;
    ITERATE l;
  END LOOP l;
END

-- refused "script with variables": FOR
BEGIN
  FOR r AS SELECT * FROM a JOIN s.b USING (id) DO
    INSERT INTO t VALUES (r.id);
  END FOR;
END

-- refused "script with variables": CASE
BEGIN
  CASE (SELECT max(x) FROM a)
    WHEN 1 THEN SELECT * FROM b;
    ELSE TRUNCATE TABLE t;
  END CASE;
END

-- spark: a searched CASE
BEGIN
  CASE WHEN 1 > 2 THEN SELECT 1; WHEN true THEN SELECT CASE WHEN true THEN 1 END; ELSE SELECT 3; END CASE;
END

-- refused "script with variables": a handler
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN INSERT INTO errors VALUES ('x'); END;
  SELECT 1 / 0;
END

-- spark: conditions and handlers
BEGIN
  DECLARE c CONDITION FOR SQLSTATE '45001';
  DECLARE EXIT HANDLER FOR c, SQLSTATE '22012' SELECT 'handled';
  SELECT 1;
END

-- refused "script with variables": nested blocks with labels
BEGIN
  block: BEGIN
    CREATE OR REPLACE TABLE t AS SELECT * FROM a;
  END block;
  DROP TABLE IF EXISTS b;
END

-- ours: EXECUTE IMMEDIATE inside
BEGIN
  EXECUTE IMMEDIATE 'SELECT * FROM t';
END

-- ours: MERGE, DELETE and common table expressions
BEGIN
  WITH c AS (SELECT * FROM a) MERGE INTO t USING c ON t.id = c.id WHEN MATCHED THEN DELETE;
  DELETE FROM s.t WHERE x IN (SELECT x FROM b);
END;

-- spark: a handler that continues
BEGIN
  DECLARE CONTINUE HANDLER FOR SQLSTATE '22012' SELECT 'handled';
  SELECT 1;
END

-- unread: BEGIN without END
BEGIN SELECT 1;

-- unread: a loop without END
BEGIN WHILE true DO SELECT 1; END

-- ours: a variable, a loop and queries
BEGIN
  DECLARE n INT DEFAULT 0;
  DECLARE m STRING;
  WHILE n < (SELECT count(*) FROM a) DO
    SET n = n + (SELECT max(x) FROM s.t WHERE y = n);
    SET m = (SELECT max(z) FROM b);
  END WHILE;
  SELECT n, z FROM c WHERE z <> m;
END

-- ours: a cursor over a table
BEGIN
  DECLARE x INT;
  DECLARE c CURSOR FOR SELECT id FROM a;
  OPEN c;
  FETCH c INTO x;
  CLOSE c;
END

-- ours: a cursor with parameters
BEGIN
  DECLARE x INT;
  DECLARE c ASENSITIVE CURSOR FOR WITH d AS (SELECT * FROM s.t) SELECT id FROM d WHERE id > ? FOR READ ONLY;
  OPEN c USING 5;
  REPEAT
    FETCH NEXT FROM c INTO x;
  UNTIL x > 7 END REPEAT;
  CLOSE c;
END

-- spark: a cursor over no table
BEGIN
  DECLARE x INT;
  DECLARE c INSENSITIVE CURSOR FOR SELECT 1;
  DECLARE EXIT HANDLER FOR NOT FOUND CLOSE c;
  OPEN c;
  FETCH FROM c INTO x;
END

-- refused "script with variables": rows of a cursor written
BEGIN
  DECLARE x INT;
  DECLARE c CURSOR FOR SELECT id FROM a;
  OPEN c;
  FETCH c INTO x;
  INSERT INTO b VALUES (x);
END
