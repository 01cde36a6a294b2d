import { type ColumnNaming, columnKey, type Naming } from "../ngsi/index.js";
import type { Context, Event, Logger } from "../sdk/index.js";
import type { Dialect } from "./contract/dialect.js";
import type { SqlConfig } from "./contract/schema.js";
import { type SchemaName, type Statement, tableKey } from "./contract/statement.js";
import { LastData } from "./features/last-data/last-data.js";
import { Admission } from "./rows/admission.js";
import { ColumnLayout } from "./rows/column-layout.js";
import { groupedByTable, inOrder, type PlacedRow, type TableBatch } from "./rows/grouping.js";
import { columnLayoutColumns, type Layout, type LayoutOptions, namesOf } from "./rows/layout.js";
import { chosenColumns, NotificationColumns } from "./rows/notification-columns.js";
import { RowLayout } from "./rows/row-layout.js";
import { TableNames } from "./rows/table-names.js";
import {
  type NameChoice,
  type PlacementParts,
  placedRows,
  type SchemaOf,
  schemaOfEvent,
  schemasBy,
} from "./rows/table-placement.js";
import type { FittedRows } from "./tables/fitting.js";
import { hasPassed, type KnownStore } from "./tables/known-store.js";
import type { SchemaServices } from "./tables/schema-services.js";

const WARNING_PAUSE_MILLIS = 60_000;

interface RowBuilderParts {
  readonly naming: Naming;
  readonly dialect: Dialect;
  readonly context: Context;
  readonly services: Pick<SchemaServices, "note">;
}

/** Makes rows of events: of history, of last data, or both. */
export class RowBuilder {
  readonly #context: Context;
  readonly #placement: PlacementParts;
  readonly #mode: SqlConfig["last_data_mode"];
  readonly #lastData: LastData;
  readonly #columnKey: Dialect["columnKey"];
  /**
   * The tables in which rows of an event are committed although its batch is not: they are skipped when the batch is
   * retried.
   */
  readonly #written = new WeakMap<Event, Set<string>>();
  /** False until a batch is written in part, which is rare. */
  #anyWritten = false;
  #warnedAt: number | undefined;

  constructor(config: SqlConfig, { naming, dialect, context, services }: RowBuilderParts) {
    this.#context = context;
    const layout = layoutOf(config, naming, dialect);
    const tableNames = new TableNames(naming, dialect);
    const stores = (service: string, schema: SchemaName) => services.note(schema, service);
    this.#placement = {
      naming,
      schemaOf: reportingChanges(
        schemasBy({ naming, dialect, admission: new Admission(config), stores }),
        naming,
        context.log,
      ),
      layout,
      tableNames,
      names: nameChoiceOf(config),
    };
    this.#mode = config.last_data_mode;
    this.#lastData = new LastData(config, naming, dialect);
    this.#columnKey = dialect.columnKey;
  }

  /**
   * The rows of the events by table, without the written ones; the tables in one order everywhere, so that transactions of two
   * sinks, and definitions of tables, do not wait for each other in a circle.
   */
  tables(events: readonly Event[]): readonly TableBatch[] {
    // A loop: `flatMap` takes as long as naming the tables.
    const rows: PlacedRow[] = [];
    for (const event of events) for (const row of this.#placed(event)) rows.push(row);
    const history = this.#mode === "upsert" ? [] : groupedByTable(this.#unwritten(rows), this.#columnKey);
    const last = this.#mode === "insert" ? [] : this.#lastData.batches(this.#unwritten(this.#lastData.rows(rows)));
    return inOrder([...history, ...last]);
  }

  /** Whether an event can have rows; `tables` throws for one that cannot. */
  canPlace(event: Event): boolean {
    try {
      this.tables([event]);
      return true;
    } catch {
      return false;
    }
  }

  /** The schema of the rows of an event. Throws for an event that cannot have one. */
  schemaOf(event: Event): SchemaName {
    return schemaOfEvent(event, this.#placement);
  }

  /** Records that the rows of these tables are written. */
  note(tables: readonly Pick<TableBatch, "name" | "placed">[]): void {
    this.#anyWritten ||= tables.length > 0;
    for (const { name, placed } of tables) {
      for (const { event } of placed) {
        const written = this.#written.get(event);
        if (written === undefined) this.#written.set(event, new Set([tableKey(name)]));
        else written.add(tableKey(name));
      }
    }
  }

  /** Called before columns are looked up. */
  refresh(tables: readonly TableBatch[], store: KnownStore): void {
    if (this.#mode !== "insert") this.#lastData.refresh(tables, store, this.#context.now());
  }

  /** The statements that write the rows of a table. */
  statements(table: TableBatch, fitted: FittedRows, store: KnownStore): readonly Statement[] {
    return table.key.length === 0 ? store.dialect.insert(fitted) : this.#lastData.statements(table, fitted, store);
  }

  #unwritten(rows: readonly PlacedRow[]): readonly PlacedRow[] {
    if (!this.#anyWritten) return rows;
    return rows.filter(({ event, name }) => this.#written.get(event)?.has(tableKey(name)) !== true);
  }

  #placed(event: Event): readonly PlacedRow[] {
    const rows = placedRows(event, this.#placement);
    if (rows.length === 0) this.#warnWithoutAttributes();
    return rows;
  }

  #warnWithoutAttributes(): void {
    const now = this.#context.now().getTime();
    if (!hasPassed(WARNING_PAUSE_MILLIS, this.#warnedAt, now)) return;
    this.#warnedAt = now;
    this.#context.log.warn({}, "entities without attributes have no row");
  }
}

/** Which names of an event the configuration chooses. */
export function nameChoiceOf(config: SqlConfig): NameChoice {
  return { mapped: config.enable_name_mappings, short: config.attr_short_names };
}

/** The layout of a configuration. */
export function layoutOf(config: SqlConfig, naming: ColumnNaming, { reservedColumns }: Dialect): Layout {
  const options = {
    nativeTypes: config.attr_native_types,
    metadata: config.attr_metadata_store,
    geometryX: config.attr_geometry ? (config.attr_geometry_x ?? "longitude") : undefined,
    geometryRows: config.attr_geometry_rows ?? true,
  };
  const own = chosenColumns(config.notification_columns);
  const layout = layouts[config.attr_persistence](options, naming, [...reservedColumns, ...namesOf(own, naming)]);
  return own.length === 0 ? layout : new NotificationColumns(layout, own, naming, options);
}

type Make = (options: LayoutOptions, naming: ColumnNaming, reservedColumns: readonly string[]) => Layout;

const layouts = {
  column: (options, naming, reservedColumns) => {
    const fixed = [...columnLayoutColumns.ld, ...columnLayoutColumns.v2];
    const keys = [...namesOf(fixed, naming), ...reservedColumns].map((column) => columnKey(column, naming));
    return new ColumnLayout(options, { naming, keys: new Set(keys) });
  },
  row: (options, naming) => new RowLayout(options, naming),
} satisfies Record<SqlConfig["attr_persistence"], Make>;

/** Services whose change is reported. A sender can name as many as it likes. */
const MOST_REPORTED = 100;

/** Warns of each service with characters that no schema has, once: its rows are in a schema of another name. */
export function reportingChanges(schemaOf: SchemaOf, { encoding }: Naming, log: Logger): SchemaOf {
  const odd = encoding ? /[^A-Za-z0-9_]/ : /[^A-Za-z0-9_.-]/;
  const reported = new Set<string>();
  let last: string | undefined;
  return (address) => {
    const name = schemaOf(address);
    const { service } = address;
    if (service === last) return name;
    last = service;
    if (!odd.test(service) || reported.has(service) || reported.size > MOST_REPORTED) return name;
    reported.add(service);
    const { database, schema } = name;
    const fields = { service, schema, ...(database === "" ? {} : { database }), remedy };
    if (reported.size <= MOST_REPORTED) log.warn(fields, "name of a service changed");
    else log.warn({ services: MOST_REPORTED }, "names of many services changed; those that follow are not logged");
    return name;
  };
}

const remedy =
  "if it is not the name that the broker was given, send the right one as Fiware-Service in the receiverInfo of the subscription, or map it (enable_name_mappings)";
