{# Maintenance of tables, by hand or on a schedule: dbt run-operation compact --args '{table: orders}'.

   `table` is the name of a model, seed or snapshot, `source_name.table_name` for a source, or `schema.name`; in your
   own macros it may also be a relation. Each macro runs one statement, reports what it did and renders as nothing, so
   it can be used in a hook. A macro of the same name in a project takes precedence. #}

{% macro compact(table, partitions=none) %}
  {% do tablestore_call('compact', table, {'partitions': partitions}) %}
{% endmacro %}

{% macro expire_snapshots(table, retain_max=none, retain_min=none, older_than=none, max_deletes=none) %}
  {% do tablestore_call('expire_snapshots', table, {
      'retain_max': retain_max, 'retain_min': retain_min, 'older_than': older_than, 'max_deletes': max_deletes}) %}
{% endmacro %}

{# Short names of `expire_snapshots` and `create_tag`. #}
{% macro expire(table, retain_max=none, retain_min=none, older_than=none, max_deletes=none) %}
  {% do expire_snapshots(table, retain_max, retain_min, older_than, max_deletes) %}
{% endmacro %}

{% macro tag(table, tag, snapshot=none, time_retained=none) %}
  {% do create_tag(table, tag, snapshot, time_retained) %}
{% endmacro %}

{% macro create_tag(table, tag, snapshot=none, time_retained=none) %}
  {% do tablestore_call('create_tag', table, {
      'tag': tag, 'snapshot': snapshot, 'time_retained': time_retained}) %}
{% endmacro %}

{% macro delete_tag(table, tag) %}
  {% do tablestore_call('delete_tag', table, {'tag': tag}) %}
{% endmacro %}

{% macro rollback(table, version=none, timestamp=none) %}
  {% if timestamp is not none %}
    {% do tablestore_call('rollback_to_timestamp', table, {'timestamp': timestamp}) %}
  {% else %}
    {% do tablestore_call('rollback', table, {'version': version}) %}
  {% endif %}
{% endmacro %}

{% macro remove_orphan_files(table, older_than=none, dry_run=none) %}
  {% do tablestore_call('remove_orphan_files', table, {'older_than': older_than, 'dry_run': dry_run}) %}
{% endmacro %}

{% macro expire_partitions(table, expiration_time=none, timestamp_formatter=none, timestamp_pattern=none,
                           expire_strategy=none, max_expires=none) %}
  {% do tablestore_call('expire_partitions', table, {
      'expiration_time': expiration_time, 'timestamp_formatter': timestamp_formatter,
      'timestamp_pattern': timestamp_pattern, 'expire_strategy': expire_strategy, 'max_expires': max_expires}) %}
{% endmacro %}

{# Call any procedure, with its arguments as a mapping, and return the rows of its result:
   {procedure: rename_tag, table: orders, arguments: {tag: a, target_tag: b}} #}
{% macro tablestore_call(procedure, table, arguments={}) %}
  {% if execute %}
    {% set relation = tablestore_find(table) %}
    {% set name = relation.schema ~ '.' ~ relation.identifier %}
    {% set answer = run_query(adapter.tablestore_call_sql(procedure, name, arguments)) %}
    {% for line in adapter.tablestore_report(procedure, name, answer) %}
      {% do log(line, info=true) %}
    {% endfor %}
    {% do return(answer) %}
  {% endif %}
{% endmacro %}

{# The relation of a name; see the top of this file. #}
{% macro tablestore_find(table) %}
  {% if table is not string %}
    {% do return(table) %}
  {% endif %}
  {% for node in graph.nodes.values() %}
    {% if node.name == table and node.resource_type in ('model', 'seed', 'snapshot') %}
      {% do return(api.Relation.create(schema=node.schema, identifier=node.alias)) %}
    {% endif %}
  {% endfor %}
  {% for node in graph.sources.values() %}
    {% if node.source_name ~ '.' ~ node.name == table %}
      {% do return(api.Relation.create(schema=node.schema, identifier=node.identifier)) %}
    {% endif %}
  {% endfor %}
  {% set parts = table.split('.') %}
  {% do return(api.Relation.create(schema=parts[0] if parts | length > 1 else target.schema, identifier=parts[-1])) %}
{% endmacro %}
