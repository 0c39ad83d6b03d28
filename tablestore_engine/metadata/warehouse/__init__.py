"""The warehouse's own records, as JSON: views, functions, and builds of tables that are visible before they are full.

Pure: values and text. Knows types, and nothing of tables.
"""
