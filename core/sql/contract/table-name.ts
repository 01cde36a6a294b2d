/** A schema and the database it is in; an empty text stands for the database of the configuration. */
export interface SchemaName {
  readonly database: string;
  readonly schema: string;
}

/** Where a row goes: the names as they stand in the database. */
export interface TableName extends SchemaName {
  readonly table: string;
}

/** One text for one schema; names never hold NUL. */
export function schemaKey({ database, schema }: SchemaName): string {
  return `${database}\0${schema}`;
}

/** One text for one table. */
export function tableKey(name: TableName): string {
  return `${schemaKey(name)}\0${name.table}`;
}
