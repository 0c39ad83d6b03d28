"""Arrow and NumPy kernels that pyarrow lacks: equality of nested values, numbers for whole rows. Knows no table."""
