"""Other storage engines of Spark next to ours: one workload, each in a process of its own (`make bench-peers`)."""
