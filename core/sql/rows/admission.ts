import { type Address, nameLimits, shorten } from "../../ngsi/index.js";
import { AgentError, codeOf } from "../../sdk/index.js";
import type { Dialect } from "../contract/dialect.js";
import type { SqlConfig } from "../contract/schema.js";
import type { SchemaName, TableName } from "../contract/statement.js";

const NOT_ALLOWED = "SERVICE_NOT_ALLOWED";
const PROTECTED = "SCHEMA_PROTECTED";

/** The configured services that are stored, and schemas that are never written to. */
export class Admission {
  readonly #services: ReadonlySet<string>;
  readonly #protected: ReadonlySet<string>;

  constructor(config: Pick<SqlConfig, "allowed_services" | "protected_schemas">) {
    this.#services = new Set(config.allowed_services.map(comparedName));
    this.#protected = new Set(config.protected_schemas.map(comparedName));
  }

  /** Throws codes `SERVICE_NOT_ALLOWED` and `SCHEMA_PROTECTED`. */
  check({ service }: Address, { database, schema }: SchemaName): void {
    if (this.#services.size > 0 && !this.#services.has(comparedName(service))) throw notAllowed(service);
    for (const name of [schema, database]) {
      if (this.#protected.has(comparedName(name))) throw isProtected(service, name);
    }
  }
}

/** Whether an event is refused because of its service alone: then there is no schema for an error table. */
export function isNotAdmitted(error: unknown): boolean {
  const code = codeOf(error);
  return code === NOT_ALLOWED || code === PROTECTED;
}

function notAllowed(service: string): AgentError {
  const message = `storing an event of service "${service}": allowed_services does not name it; add it there`;
  return new AgentError(NOT_ALLOWED, `${message}, or leave out such events with an interceptor or selector`, {
    retryable: false,
  });
}

function isProtected(service: string, name: string): AgentError {
  const message = `storing an event of service "${service}": "${name}" is named in protected_schemas; take it out there`;
  return new AgentError(PROTECTED, `${message}, or give the service another name (enable_name_mappings)`, {
    retryable: false,
  });
}

/** What the names depend on. */
export type NameRules = Pick<Dialect, "allowed" | "database">;

/**
 * The schema that events are stored in. The schema `deneb` belongs to the agent, so events get `_deneb` instead. This
 * is the last step before a name is used.
 */
export function freeSchema({ database, schema }: SchemaName, dialect: NameRules): SchemaName {
  const free = (name: string) => freed(name, /^deneb$/, dialect.database);
  return allowedSchema({ database: free(database), schema: free(schema) }, dialect);
}

/** The name by which the database knows the schema. */
export function allowedSchema(of: SchemaName, { allowed }: Pick<Dialect, "allowed">): SchemaName {
  const { database, schema } = allowed({ ...of, table: "" });
  return { database, schema };
}

/**
 * The table that events are stored in. Tables whose names start with `deneb_` belong to the agent, so events get a
 * leading underscore.
 */
export function freeTable(name: TableName, dialect: NameRules): TableName {
  return dialect.allowed({ ...name, table: freed(name.table, /^deneb_/, dialect.database) });
}

function freed(name: string, reserved: RegExp, kind: Dialect["database"]): string {
  return reserved.test(comparedName(name)) ? shorten(`_${name}`, nameLimits[kind]) : name;
}

const ASCII = /^[\x21-\x7e]*$/;
const NOT_COMPARED = /[\p{Mark}\p{Format}]+/gu;

/** The name as the least strict database compares it: without case, diacritics, widths and trailing spaces. */
function comparedName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  return name.normalize("NFKD").replace(NOT_COMPARED, "").trimEnd().toLowerCase();
}
