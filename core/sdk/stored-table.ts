/** Which stored data a command concerns: what fits every given member, all without any. @beta */
export interface StoredSelection {
  /** The id of an entity, as in its notifications: tables that are known to hold another one do not fit. */
  readonly entity?: string;
  /** A service, as in the notifications. */
  readonly service?: string;
  /** Names of tables as in {@link StoredTable.name}. */
  readonly tables?: readonly string[];
}

/**
 * A table of the catalogue. What is not known is absent: an earlier version or a restricted user did not note it.
 * @beta
 */
export interface StoredTable {
  /** For people, and for options of commands: the parts that are not empty, joined by dots. */
  readonly name: string;
  /** Empty if it is that of the configuration; the schema where schemas are databases. */
  readonly database: string;
  readonly schema: string;
  readonly table: string;
  /** The agent of the sink; absent for a table that an earlier version listed. */
  readonly agent?: string;
  /** The sink that has listed it; a table that several have listed appears once for each. */
  readonly sink: string;
  /** Rows of all notifications, or one row for each entity. */
  readonly kind: "history" | "last data";
  /** The full id or type that the table is named after. */
  readonly subject: string;
  /** What its name was made of: the `data_model` of the sink that made it. */
  readonly dataModel?: string;
  /** This and what follows are those of a notification whose rows are there; others may share the table. */
  readonly entityType?: string;
  readonly service?: string;
  readonly servicePath?: string;
  /** When it was listed: ISO 8601 in UTC. */
  readonly firstWrite?: string;
  /** ISO 8601 in UTC; up to an hour older than the newest row. */
  readonly lastWrite?: string;
  /** The number of partitions; absent for a plain table. */
  readonly partitions?: number;
  /** An estimate of the store, absent before it has looked; it may be far off for a table that changed lately. */
  readonly rows?: number;
  /** What a user should know of it, for example that its entity type has too many tables for views. */
  readonly note?: string;
}
