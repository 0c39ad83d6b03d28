-- ours: USE
USE s

-- ours: USE SCHEMA
USE SCHEMA s

-- ours: USE DATABASE with the catalog
USE DATABASE spark_catalog.s

-- ours: USE of IDENTIFIER
USE IDENTIFIER('s')

-- spark: SET CATALOG
SET CATALOG other

-- spark: SET
SET

-- spark: SET -v
SET -v

-- spark: SET of a key
SET spark.sql.shuffle.partitions = 5

-- spark: SET of a key with a text like a query
SET my.query = SELECT * FROM t

-- spark: SET of a backquoted key
SET `my key` = `my value`

-- spark: SET TIME ZONE
SET TIME ZONE 'Europe/Berlin'

-- spark: SET TIME ZONE with an interval
SET TIME ZONE INTERVAL '1' HOUR

-- spark: SET PATH
SET PATH = spark_catalog.s

-- ours alone: SET of a default for new tables
SET table-storage.bucket = 10

-- ours alone: SET of a default with a server
SET table-storage.log.kafka.bootstrap.servers = localhost:9092

-- ours alone: RESET of a default for new tables
RESET table-storage.bucket

-- ours: RESET
RESET

-- ours: RESET of a key
RESET spark.sql.shuffle.partitions

-- spark: ADD JAR
ADD JAR /tmp/a.jar

-- spark: ADD FILES
ADD FILES '/tmp/a.txt' "/tmp/b c.txt"

-- spark: LIST
LIST JARS /tmp/a.jar

-- spark: ADD ARCHIVE
ADD ARCHIVE /tmp/x.zip

-- ours: CACHE TABLE
CACHE TABLE s.t

-- ours: CACHE TABLE of a query
CACHE TABLE c AS SELECT * FROM a JOIN b

-- ours: CACHE LAZY TABLE with options
CACHE LAZY TABLE c OPTIONS ('storageLevel' = 'DISK_ONLY') SELECT * FROM s.a

-- ours: CACHE TABLE of a query in parentheses
CACHE TABLE c (SELECT * FROM a)

-- ours: UNCACHE TABLE
UNCACHE TABLE t

-- ours: UNCACHE TABLE IF EXISTS
UNCACHE TABLE IF EXISTS s.t

-- spark: CLEAR CACHE
CLEAR CACHE

-- spark: REFRESH of a path
REFRESH '/tmp/x'

-- spark: REFRESH of a path without quotes
REFRESH /tmp/x

-- ours: CALL
CALL sys.compact(table => 's.t')

-- spark: CALL of another catalog
CALL lake.system.compact('t')

-- ours: ANALYZE TABLES
ANALYZE TABLES IN s COMPUTE STATISTICS NOSCAN

-- ours alone: COMMIT
COMMIT

-- unread: USE of nothing
USE

-- unread: CACHE of nothing
CACHE TABLE
