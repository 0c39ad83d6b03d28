{# Names: there is no database, and temporary relations belong to the session. #}

{% macro tablestore__generate_database_name(custom_database_name=none, node=none) -%}
  {% do return(none) %}
{%- endmacro %}

{% macro tablestore__make_temp_relation(base_relation, suffix) -%}
  {%- set name = base_relation.identifier ~ suffix -%}
  {% do return(base_relation.incorporate(path={'identifier': name, 'schema': none}, type='view')) %}
{%- endmacro %}

{% macro tablestore__make_intermediate_relation(base_relation, suffix) -%}
  {% do return(default__make_temp_relation(base_relation, suffix)) %}
{%- endmacro %}

{% macro tablestore__get_columns_in_relation(relation) -%}
  {% do return(adapter.get_columns_in_relation(relation)) %}
{%- endmacro %}

{% macro tablestore__list_schemas(database) -%}
  {% do return(adapter.list_schemas(database)) %}
{%- endmacro %}

{% macro tablestore__check_schema_exists(information_schema, schema) -%}
  {% do return([[1 if adapter.check_schema_exists(none, schema) else 0]]) %}
{%- endmacro %}

{% macro tablestore__create_schema(relation) -%}
  {% do adapter.create_schema(relation) %}
{%- endmacro %}

{% macro tablestore__drop_schema(relation) -%}
  {% do adapter.drop_schema(relation) %}
{%- endmacro %}

{% macro tablestore__drop_relation(relation) -%}
  {% do adapter.drop_relation(relation) %}
{%- endmacro %}

{% macro tablestore__truncate_relation(relation) -%}
  {% do adapter.truncate_relation(relation) %}
{%- endmacro %}

{% macro tablestore__rename_relation(from_relation, to_relation) -%}
  {% do adapter.rename_relation(from_relation, to_relation) %}
{%- endmacro %}

{% macro tablestore__drop_table(relation) -%}
  drop table if exists {{ relation.render() }}
{%- endmacro %}

{% macro tablestore__drop_view(relation) -%}
  drop view if exists {{ relation.render() }}
{%- endmacro %}

{% macro tablestore__get_rename_table_sql(relation, new_name) -%}
  alter table {{ relation.render() }} rename to {{ relation.incorporate(path={'identifier': new_name}).render() }}
{%- endmacro %}

{% macro tablestore__get_rename_view_sql(relation, new_name) -%}
  alter view {{ relation.render() }} rename to {{ relation.incorporate(path={'identifier': new_name}).render() }}
{%- endmacro %}

{% macro tablestore__get_replace_table_sql(relation, sql) -%}
  {{ create_table_as(false, relation, sql) }}
{%- endmacro %}

{% macro tablestore__get_replace_view_sql(relation, sql) -%}
  {{ create_view_as(relation, sql) }}
{%- endmacro %}
