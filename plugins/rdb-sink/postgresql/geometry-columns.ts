import { type Cell, type Column, type NativeValue, plain, quoted, type Statement, type TableName } from "deneb/sql";
import { geometryHex } from "./geometry.js";
import { path } from "./statements.js";

/** What a column of geometries stores. PostGIS itself reads texts that are no GeoJSON, such as WKT. */
export function geometryCell({ kind, text, plain: given }: NativeValue, dimensions: 2 | 3): Cell {
  if (kind === "geometry") return geometryHex(text, dimensions);
  return kind === "json" ? (geometryHex(text, dimensions) ?? given) : given;
}

/** Where an index follows, a column that another process made must be an error: its index exists too. */
export function unlessThere(columns: readonly Column[]): string {
  return columns.some(({ indexed }) => indexed) ? "" : "IF NOT EXISTS ";
}

/** The statement, with what columns of geometries need before and after it in the same transaction. */
export function withGeometry(name: TableName, columns: readonly Column[], text: string): readonly Statement[] {
  if (!columns.some(({ kind }) => kind === "geometry")) return [plain(name, text)];
  const indexed = columns.filter((column) => column.indexed);
  return [
    plain(name, WITH_POSTGIS),
    plain(name, text),
    ...indexed.map((column) => plain(name, `CREATE INDEX ON ${path(name)} USING gist (${quoted(column.name)})`)),
  ];
}

// The type of the extension is found in any schema.
const WITH_POSTGIS = `
  SELECT pg_catalog.set_config('search_path',
    pg_catalog.concat_ws(', ', nullif(pg_catalog.current_setting('search_path'), ''), pg_catalog.quote_ident(n.nspname)), true)
  FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'postgis'`;

/**
 * The type of a column in the catalogue. The second bit of the modifier of a geometry or geography says that it has a height; it is
 * set in -1, which is none.
 */
export const COLUMN_TYPE = `CASE WHEN t.typname IN ('geometry', 'geography') AND a.atttypmod & 2 = 2 THEN 'geometryz' ELSE t.typname END`;
