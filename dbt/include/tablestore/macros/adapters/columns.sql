{% macro tablestore__alter_column_type(relation, column_name, new_column_type) -%}
  {% do adapter.tablestore_alter_columns(relation, retype={column_name: new_column_type}) %}
{%- endmacro %}

{% macro tablestore__alter_relation_add_remove_columns(relation, add_columns, remove_columns) -%}
  {% do adapter.tablestore_alter_columns(relation, add=add_columns or [], remove=remove_columns or []) %}
{%- endmacro %}

{% macro tablestore__create_columns(relation, columns) -%}
  {% do tablestore__alter_relation_add_remove_columns(relation, columns, none) %}
{%- endmacro %}

{# The comments that a relation was not created with: of columns of a table, and of fields of structs in a view. Of
   columns that are missing there is a warning. #}
{% macro tablestore__persist_docs(relation, model, for_relation, for_columns) -%}
  {% if for_relation and not relation.is_view and config.persist_relation_docs() %}
    {% do adapter.tablestore_comment_relation(relation, model.description or '') %}
  {% endif %}
  {% if for_columns and config.persist_column_docs() and model.columns %}
    {% set names = adapter.tablestore_column_paths(relation) %}
    {% do validate_doc_columns(relation, model.columns, names) %}
    {% do adapter.tablestore_comment_columns(relation, adapter.tablestore_descriptions(model, names)) %}
  {% endif %}
{%- endmacro %}

{% macro tablestore__apply_grants(relation, grant_config, should_revoke=true) -%}
  {% if grant_config %}
    {% do adapter.tablestore_warn_once(
      'grants are ignored: tables are files in a warehouse folder, and its permissions decide who may read them.'
    ) %}
  {% endif %}
{%- endmacro %}
