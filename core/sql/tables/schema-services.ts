import { createHash } from "node:crypto";
import type { Context, MetricGauge } from "../../sdk/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import { RecentMap } from "../contract/recent-map.js";
import { type SchemaName, schemaKey } from "../contract/statement.js";
import { GrowingPauses } from "./growing-pauses.js";
import type { KnownStore } from "./known-store.js";
import { listerOf } from "./lister.js";
import { listedServices, serviceStatements } from "./register-rows.js";

const MOST_SCHEMAS = 10_000;
/** More services of one schema are not compared: their names may come from anybody. */
const MOST_SERVICES = 20;
const MOST_OPEN = 1000;
/** The key of pauses of all schemas; no schema has it. */
const ALL = "";

interface KnownSchema {
  readonly name: SchemaName;
  readonly services: Set<string>;
  /** Those that are not in the register yet. */
  readonly unlisted: Set<string>;
  read: boolean;
}

/**
 * Knows which services are stored in each schema, and reports a schema with more than one. The services are kept in
 * the register, so that one of an earlier run, or of another agent, is known too.
 */
export class SchemaServices {
  readonly #store: KnownStore;
  readonly #context: Pick<Context, "agent" | "name" | "now">;
  readonly #gauge: MetricGauge | undefined;
  readonly #schemas = new RecentMap<KnownSchema>(MOST_SCHEMAS);
  /** Schemas whose services are not read or not written yet. */
  readonly #open = new Map<string, KnownSchema>();
  readonly #shared = new Set<string>();
  /** Of {@link ALL}, and of schemas without a register. */
  readonly #pauses = new GrowingPauses();

  constructor(store: KnownStore, context: Pick<Context, "agent" | "name" | "now" | "metrics">) {
    this.#store = store;
    this.#context = context;
    this.#gauge = context.metrics?.gauge("shared_schemas", "Schemas that hold more than one service.");
  }

  /** Notes that a service is stored in a schema. */
  note(schema: SchemaName, service: string): void {
    const key = schemaKey(schema);
    const known = this.#schemas.get(key) ?? this.#add(key, schema);
    if (known.services.has(service) || known.services.size >= MOST_SERVICES) return;
    this.#report(known, service);
    known.unlisted.add(service);
    this.#open.set(key, known);
    // The oldest is never stored, or waits for a register that cannot be written.
    for (const oldest of this.#open.keys()) if (this.#open.size > MOST_OPEN) this.#open.delete(oldest);
  }

  /**
   * Reads and writes the register for what was noted of the schemas of tables that were written. A failure is only
   * logged: rows are more important.
   */
  async register(written: readonly { readonly name: SchemaName }[], signal: AbortSignal): Promise<void> {
    if (this.#open.size === 0) return;
    for (const key of new Set(written.map(({ name }) => schemaKey(name)))) {
      const known = this.#open.get(key);
      const now = this.#context.now().getTime();
      if (known === undefined || ![ALL, key].every((one) => this.#pauses.isOver(one, now))) continue;
      try {
        await this.#list(known, signal);
        this.#pauses.end(key);
        if (this.#pauses.end(ALL)) this.#store.log.info({}, "services of schemas are listed again");
        this.#open.delete(key);
      } catch (error) {
        if (signal.aborted) return;
        this.#pause(key, error, now);
      }
    }
  }

  async #list(known: KnownSchema, signal: AbortSignal): Promise<void> {
    const { dialect, driver } = this.#store;
    if (!known.read) {
      const listed = await listedServices(known.name, this.#store, signal);
      known.read = true;
      for (const service of listed) {
        known.unlisted.delete(service);
        if (!known.services.has(service) && known.services.size < MOST_SERVICES) this.#report(known, service);
      }
    }
    if (known.unlisted.size === 0) return;
    const services = [...known.unlisted].map((service) => ({ service, key: keyOf(service) }));
    const time = this.#context.now().toISOString();
    const lister = listerOf(this.#context);
    await driver.write(serviceStatements(known.name, services, { lister, time, dialect }), signal);
    known.unlisted.clear();
  }

  #add(key: string, name: SchemaName): KnownSchema {
    const added = { name, services: new Set<string>(), unlisted: new Set<string>(), read: false };
    this.#schemas.set(key, added);
    return added;
  }

  /** Adds a service to a schema; each pair of services is reported once. */
  #report({ name, services }: KnownSchema, service: string): void {
    const others = [...services];
    services.add(service);
    if (others.length === 0) return;
    const { database, schema } = name;
    this.#store.log.warn(
      { ...(database === "" ? {} : { database }), schema, service, others },
      "services share a schema; enable_service_hash = true or name mappings keep them apart",
    );
    if (this.#shared.size < MOST_SCHEMAS) this.#shared.add(schemaKey(name));
    this.#gauge?.set(this.#shared.size);
  }

  /** A register that does not exist could not be created, which is logged when tables are listed. */
  #pause(key: string, error: unknown, now: number): void {
    const databaseError = databaseErrorOf(error);
    if (this.#store.dialect.errors.missing(databaseError)) {
      this.#pauses.begin(key, now);
      return;
    }
    const seconds = this.#pauses.begin(ALL, now) / 1000;
    const reason = databaseError.message;
    this.#store.log.warn({ reason, seconds }, "services of schemas are not listed, will be tried again");
  }
}

const KEY_DIGITS = 16;

/** No name of a table has a colon before its hash. */
function keyOf(service: string): string {
  return `service:${createHash("sha256").update(service).digest("hex").slice(0, KEY_DIGITS)}`;
}
