-- ours alone: CREATE TABLE WITH
CREATE TABLE s.t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '4')

-- ours alone: START TRANSACTION
BEGIN TRANSACTION

-- ours alone: an empty database
SELECT * FROM .s.t JOIN .u

-- ours alone: ALTER TABLE COMPACT
ALTER TABLE s.t COMPACT

-- ours alone: ALTER TABLE CLUSTERED INTO
ALTER TABLE t CLUSTERED INTO 8 BUCKETS

-- ours alone: tags
ALTER TABLE t CREATE TAG `first` AS OF VERSION 3

-- ours alone: SHOW TAGS
SHOW TAGS t

-- ours alone: ALTER TABLE SET without TBLPROPERTIES
ALTER TABLE t SET ('bucket' = '4')

-- ours alone: OPTIMIZE
OPTIMIZE s.t ZORDER BY (a, b)

-- ours alone: VACUUM
VACUUM t RETAIN 168 HOURS

-- ours alone: RESTORE
RESTORE TABLE t TO VERSION AS OF 3

-- ours alone: GRANT
GRANT SELECT ON TABLE s.t TO PUBLIC

-- ours alone: nothing
;
