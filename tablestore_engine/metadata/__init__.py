"""What is written down about a table: data files, manifests, snapshots, keys and partitions. Pure: no files."""
