import { columnName } from "../../ngsi/index.js";
import { AgentError } from "../../sdk/index.js";
import type { TableName } from "../contract/statement.js";
import { columnLayoutColumns } from "../rows/layout.js";
import type { KnownStore } from "./known-store.js";
import type { KnownColumns } from "./known-tables.js";
import type { TableKind } from "./register-rows.js";

interface FixedColumn {
  readonly name: string;
  readonly key: string;
}

/** Decides by its columns whether a table may be written to: it must have the columns of every layout. */
export class Ownership {
  readonly #fixed: readonly FixedColumn[];
  /** Lists of columns that are known to be complete. */
  readonly #whole: WeakSet<KnownColumns>;

  constructor({ dialect, naming, tables }: Pick<KnownStore, "dialect" | "naming" | "tables">) {
    this.#whole = tables.own;
    this.#fixed = columnLayoutColumns.ld.map((column) => {
      const name = columnName(column, naming);
      return { name, key: dialect.columnKey(name) };
    });
  }

  /**
   * Throws code `TABLE_NOT_OURS`. A table that a sink has listed may lack some of the columns: they are created again.
   */
  refuseForeign(name: TableName, columns: KnownColumns | undefined, isListed: () => boolean): void {
    if (columns === undefined || this.isWhole(columns)) return;
    const lacking = this.#lacking(columns);
    if (lacking.length === this.#fixed.length || !isListed()) throw foreign(name, lacking);
  }

  isWhole(columns: KnownColumns): boolean {
    if (this.#whole.has(columns)) return true;
    const whole = this.#lacking(columns).length === 0;
    if (whole) this.#whole.add(columns);
    return whole;
  }

  #lacking(columns: KnownColumns): readonly FixedColumn[] {
    return this.#fixed.filter(({ key }) => !columns.has(key));
  }
}

/** The error for a row of history that would be stored in a table of last data, or the other way round. */
export function otherKind(name: TableName, kept: TableKind): AgentError {
  const change =
    kept === "history"
      ? "it keeps history, and the event would change its rows as last data"
      : "it keeps last data, and the event would add history to it";
  const remedy =
    "store such events in another table (data_model, enable_name_mappings) or change last_data_table_suffix";
  return new AgentError("TABLE_NOT_OURS", `storing into ${described(name)}: ${change}; ${remedy}`, {
    retryable: false,
  });
}

function foreign(name: TableName, lacking: readonly FixedColumn[]): AgentError {
  const columns = lacking.map((column) => `"${column.name}"`).join(", ");
  const message = `storing into ${described(name)}: it is not a table of this agent, because it lacks ${columns}, and is not changed`;
  const remedy = "rename it, add the columns, or store such events in another table (data_model, enable_name_mappings)";
  return new AgentError("TABLE_NOT_OURS", `${message}; ${remedy}`, { retryable: false });
}

function described({ schema, table }: TableName): string {
  return `table "${table}" of schema "${schema}"`;
}
