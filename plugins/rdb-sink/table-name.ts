/** Where a row goes: the names as they stand in the database. */
export interface TableName {
  readonly schema: string;
  readonly table: string;
}

/** One text for one table; names never hold NUL. */
export function tableKey(name: TableName): string {
  return `${name.schema}\0${name.table}`;
}
