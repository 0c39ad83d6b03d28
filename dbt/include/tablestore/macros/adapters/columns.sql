{% macro tablestore__alter_column_type(relation, column_name, new_column_type) -%}
  {% do adapter.tablestore_alter_columns(relation, retype={column_name: new_column_type}) %}
{%- endmacro %}

{% macro tablestore__alter_relation_add_remove_columns(relation, add_columns, remove_columns) -%}
  {% do adapter.tablestore_alter_columns(relation, add=add_columns or [], remove=remove_columns or []) %}
{%- endmacro %}

{% macro tablestore__create_columns(relation, columns) -%}
  {% do tablestore__alter_relation_add_remove_columns(relation, columns, none) %}
{%- endmacro %}

{# The table's comment is written with the table, those of its columns and their fields right afterwards. #}
{% macro tablestore__persist_docs(relation, model, for_relation, for_columns) -%}
  {% if not relation.is_view %}
    {% if for_relation and config.persist_relation_docs() and model.description %}
      {% do adapter.tablestore_comment_relation(relation, model.description) %}
    {% endif %}
    {% if for_columns and config.persist_column_docs() and model.columns %}
      {% set names = adapter.tablestore_column_paths(relation) %}
      {% set documented = tablestore_documented_columns(relation, model.columns, names) %}
      {% do adapter.tablestore_comment_columns(relation, documented) %}
    {% endif %}
  {% endif %}
{%- endmacro %}

{% macro tablestore__apply_grants(relation, grant_config, should_revoke=true) -%}
  {% if grant_config %}
    {% do adapter.tablestore_warn_once(
      'grants are ignored: tables are files in a warehouse folder, and its permissions decide who may read them.'
    ) %}
  {% endif %}
{%- endmacro %}
