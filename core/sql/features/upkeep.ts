import type { Context } from "../../sdk/index.js";
import { dataModelOf, type SqlConfig } from "../contract/schema.js";
import type { SchemaName } from "../contract/statement.js";
import type { KnownStore } from "../tables/known-store.js";
import { TableFacts } from "../tables/table-facts.js";
import { type Views, viewsOf } from "./views.js";

/** What is kept about tables in the background: their facts in the register, and their views. */
export class Upkeep {
  /** Notes the tables that got rows. */
  readonly facts: TableFacts;
  /** Undefined if views is false. */
  readonly #views: Views | undefined;

  constructor(config: Pick<SqlConfig, "views" | "data_model">, store: KnownStore, context: Context) {
    const dataModel = dataModelOf(config);
    this.facts = new TableFacts(store, context, { dataModel, noted: (name) => this.changed(name) });
    this.#views = config.views ? viewsOf(store, context, this.facts) : undefined;
  }

  /** Notes that a table, or columns of it, are new. */
  changed(name: SchemaName): void {
    this.#views?.changed(name);
  }

  /** Does now what would be done after a moment. */
  async flush(signal: AbortSignal): Promise<void> {
    await this.facts.flush(signal);
    await this.#views?.flush(signal);
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#views?.stop();
    await this.facts.stop(signal);
  }
}
