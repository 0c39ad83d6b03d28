"""The formats of data files: Arrow tables in, a file and its statistics out; a file in, Arrow batches out.

`file_formats` chooses the module of a format. Knows `statistics`, `storage` and what lies below it; of
manifests, only Avro's encoding and the description of a data file.
"""
