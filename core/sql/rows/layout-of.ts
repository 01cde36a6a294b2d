import { type ColumnNaming, columnKey } from "../../ngsi/index.js";
import type { Dialect } from "../contract/dialect.js";
import type { SqlConfig } from "../contract/schema.js";
import { ColumnLayout } from "./column-layout.js";
import { columnLayoutColumns, namesOf } from "./fixed-columns.js";
import type { Layout } from "./layout.js";
import { RowLayout } from "./row-layout.js";

/** The layout that a configuration asks for. */
export function layoutOf(config: SqlConfig, naming: ColumnNaming, { reservedColumns }: Dialect): Layout {
  const options = { nativeTypes: config.attr_native_types, metadata: config.attr_metadata_store };
  return layouts[config.attr_persistence](options, naming, reservedColumns);
}

type Make = (
  options: { readonly nativeTypes: boolean; readonly metadata: boolean },
  naming: ColumnNaming,
  reservedColumns: readonly string[],
) => Layout;

const layouts = {
  column: (options, naming, reservedColumns) => {
    const fixed = [...columnLayoutColumns.ld, ...columnLayoutColumns.v2];
    const keys = [...namesOf(fixed, naming), ...reservedColumns].map((column) => columnKey(column, naming));
    return new ColumnLayout(options, { naming, keys: new Set(keys) });
  },
  row: (options, naming) => new RowLayout(options, naming),
} satisfies Record<SqlConfig["attr_persistence"], Make>;
