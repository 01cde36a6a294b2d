import { compileNameMappings, entityJson, isEntity, type NgsiVersion, withMappedNames } from "../../core/ngsi/index.js";
import { readMappingsDocument } from "../../core/ngsi/mappings/document.js";
import { type Event, reasonOf } from "../../core/sdk/index.js";
import { namingOf } from "../../core/sql/contract/schema.js";
import { RowBuilder } from "../../core/sql/row-builder.js";
import { fitted } from "../../core/sql/tables/fitting.js";
import { Tables } from "../../core/sql/tables/known-tables.js";
import { bodyText, SearchReplaceInterceptor } from "../../plugins/interceptors/regex-interceptors.js";
import { NgsiRestHandler } from "../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import type { RdbConfig } from "../../plugins/rdb-sink/config.js";
import { databases } from "../../plugins/rdb-sink/databases.js";
import { handlerConfig } from "../plugins/ngsi-rest-handler/inbound-request.js";
import { configOf } from "../plugins/rdb-sink/sinks.js";
import { recordingLog } from "../support/recording-log.js";
import type { Sent } from "./shapes.js";

const none = Number.MAX_SAFE_INTEGER;
const unlimited = {
  ...handlerConfig,
  max_entities: none,
  max_attributes: none,
  max_name_length: none,
  max_number_length: none,
  max_header_length: none,
};

/** A step over the events of a notification. */
export type Step = (events: readonly Event[]) => void;

/** The events of a notification; none when its API refuses it, which is a step over it too. */
export function eventsOf(version: NgsiVersion, { headers, body }: Sent): readonly Event[] {
  const handler = new NgsiRestHandler({ ...unlimited, ngsi_version: version });
  const receivedAt = new Date(1_700_000_000_000);
  const request = { method: "POST", path: "/notify", headers, body: Buffer.from(body), receivedAt };
  return tried(() => handler.decode(request).events) ?? [];
}

/** A step that throws is one that refuses; its error is read as logs do. */
function tried<Result>(step: () => Result): Result | undefined {
  try {
    return step();
  } catch (error) {
    reasonOf(error);
    return undefined;
  }
}

const mappings = compileNameMappings(
  readMappingsDocument(
    JSON.stringify({
      serviceMappings: [
        {
          servicePathMappings: [
            {
              entityMappings: [
                { attributeMappings: [{ originalAttributeName: "(a+)+b|(.*)", newAttributeName: "n" }] },
              ],
            },
          ],
        },
      ],
    }),
  ),
).mappings;
const replacing = new SearchReplaceInterceptor({
  searchPattern: "(?:x+x+)+y|a",
  replaceString: "b$0",
  charset: "UTF-8",
});

/** What happens to events, by its name. */
export const steps: Readonly<Record<string, Step>> = {
  "writing as JSON": each((event) => isEntity(event.body) && entityJson(event.body)),
  "the text for expressions": each((event) => bodyText(event.body)),
  "name mappings": each((event) => withMappedNames(event, mappings)),
  search_replace: each((event) => replacing.intercept(event)),
  "PostgreSQL, column": rows({ rdb_dialect: "postgresql" }),
  "PostgreSQL, column, native types, encoding": rows({
    rdb_dialect: "postgresql",
    attr_native_types: true,
    enable_encoding: true,
  }),
  "PostgreSQL, row": rows({ rdb_dialect: "postgresql", attr_persistence: "row" }),
  "PostgreSQL, last data": rows({ rdb_dialect: "postgresql", last_data_mode: "both" }),
  "PostgreSQL, by attribute": rows({
    rdb_dialect: "postgresql",
    data_model: "dm-by-attribute",
    attr_persistence: "row",
  }),
  "MySQL, column": rows({ rdb_dialect: "mysql", attr_native_types: true }),
  "MySQL, row, last data": rows({
    rdb_dialect: "mysql",
    attr_persistence: "row",
    last_data_mode: "both",
    enable_lowercase: true,
  }),
  "MySQL, by type": rows({ rdb_dialect: "mysql", data_model: "dm-by-entity-type", enable_encoding: true }),
  "SQLite, column": rows({ rdb_dialect: "sqlite", attr_native_types: true }),
  "SQLite, row": rows({ rdb_dialect: "sqlite", attr_persistence: "row", enable_encoding: true }),
};

function each(step: (event: Event) => unknown): Step {
  return (events) => {
    for (const event of events) tried(() => step(event));
  };
}

/** From events to the statements that write them, without the database. */
function rows(config: Partial<RdbConfig>): Step {
  const full = configOf(config);
  const { log } = recordingLog();
  const context = { name: "sink", log, dataDir: "", run: "run", now: () => new Date(0) };
  const opened = databases[full.rdb_dialect].open(full, context);
  const { dialect } = opened;
  const naming = namingOf(full, dialect.database);
  return (events) => {
    const services = { note: () => undefined };
    const intake = new RowBuilder(full, { naming, dialect, context, services });
    const batches = tried(() => intake.tables(events)) ?? [];
    intake.note(batches);
    const tables = new Tables(dialect.columnKey);
    const store = { ...opened, naming, nativeTypes: full.attr_native_types, tables, log };
    for (const batch of batches) {
      const ready = fitted(batch, undefined, store);
      tried(() => dialect.createTable(ready));
      tried(() => intake.statements(batch, ready, store));
    }
  };
}
