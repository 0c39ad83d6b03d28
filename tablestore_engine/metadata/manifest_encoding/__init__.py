"""The description of the files of a snapshot: data files, manifests, manifest lists and index manifests.

Pure: values and their records, in Avro and in the other formats that Paimon writes. Knows `metadata.binary_row`.
"""
