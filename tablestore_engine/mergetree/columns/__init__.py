"""Arrow kernels over columns of values that pyarrow does not have: comparison, row ids. Pure."""
