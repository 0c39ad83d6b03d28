"""Arrow and NumPy kernels that pyarrow lacks: equality of nested values, numbers for whole rows, changes by key.

Those of aggregate functions are in `merge.aggregate_kernels`. Knows types of `schema`, and no table.
"""
