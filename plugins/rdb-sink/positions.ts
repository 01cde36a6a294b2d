import type { Column } from "./column.js";
import type { KeyedRows } from "./dialects/dialect.js";
import { faultOf } from "./faults.js";
import type { KnownStore } from "./known-store.js";
import { lookUp } from "./look-up.js";
import type { Statement } from "./statement.js";
import { type SchemaName, schemaKey, type TableName, tableKey } from "./table-name.js";

const SINK = "deneb_sink";
const CHANNEL = "deneb_channel";
const POSITION = "deneb_position";
const KEY = [SINK, CHANNEL];
const MOST_ATTEMPTS = 5;
const COLUMNS: readonly Column[] = [SINK, CHANNEL, POSITION].map((name) => ({ name, kind: "text" }));

/**
 * How far the channel of a sink is stored, kept in the transaction of the rows: one row for each sink and channel. A
 * store that commits a batch in several transactions keeps it in the last one, so it never says more than is stored.
 */
export class Positions {
  readonly #sink: string;
  readonly #store: KnownStore;

  constructor(sink: string, store: KnownStore) {
    this.#sink = sink;
    this.#store = store;
  }

  /** What keeps the position with the rows of these tables; nothing when there are none. Makes its table first. */
  async statements(
    position: string,
    tables: readonly { readonly name: TableName }[],
    signal: AbortSignal,
  ): Promise<readonly Statement[]> {
    const last = lastPlace(tables.map(({ name }) => name));
    if (last === undefined) return [];
    const { dialect } = this.#store;
    const name = dialect.positionsTable(last);
    await this.#make(name, signal);
    const [channel = ""] = position.split(":", 1);
    const row = [this.#sink, channel, position];
    return [
      dialect.remove({ name, key: KEY, cells: [this.#sink, channel] }),
      ...dialect.insert({ name, columns: COLUMNS, rows: [row] }),
    ];
  }

  /**
   * Every position this sink has kept, wherever it is. It waits for writes whose answer nobody waits for any more: a
   * server may still be committing one after its connection broke, or after the process that sent it was killed.
   */
  async stored(signal: AbortSignal): Promise<readonly string[]> {
    const { driver, dialect } = this.#store;
    const wanted = COLUMNS.map(({ name }) => name);
    const found = await driver.read(dialect.tablesWith(wanted, await driver.places(signal)), signal);
    const names = new Map<string, TableName>();
    for (const [database = "", schema = "", table = ""] of found) {
      names.set(tableKey({ database, schema, table }), { database, schema, table });
    }
    const own = ({ name }: { readonly name: TableName }): KeyedRows => ({ name, key: [SINK], cells: [this.#sink] });
    const questions = [...names.values()].flatMap((name) => dialect.selectSettled(POSITION, own({ name })));
    const answers = await driver.read(questions, signal);
    return answers.flatMap(([position]) => (position === undefined ? [] : [position]));
  }

  async #make(name: TableName, signal: AbortSignal): Promise<void> {
    const { tables, dialect, driver } = this.#store;
    for (let attempt = 1; tables.columns(name) === undefined; attempt++) {
      await lookUp([name], this.#store, signal);
      if (tables.columns(name) !== undefined) return;
      try {
        // Apart from the rows: MySQL commits implicitly at every definition.
        await driver.write(
          [...dialect.createSchema(name), ...dialect.createTable({ name, columns: COLUMNS, key: KEY })],
          signal,
        );
        tables.learn(name, COLUMNS);
      } catch (error) {
        // Every sink of a database shares this table, so others may make it at the same time.
        if (attempt === MOST_ATTEMPTS || !dialect.faults.raced(faultOf(error))) throw error;
      }
    }
  }
}

/** The place that a store which commits place by place commits last: the one that is named first the latest. */
function lastPlace(names: readonly TableName[]): SchemaName | undefined {
  const places = new Map(names.map(({ database, schema }) => [schemaKey({ database, schema }), { database, schema }]));
  return [...places.values()].at(-1);
}
