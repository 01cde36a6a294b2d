export const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;

export type SslMode = (typeof sslModes)[number];

/** What `rdb_options` asks for; undefined where it says nothing. */
export interface PostgresqlOptions {
  readonly sslMode: SslMode;
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  readonly connectTimeoutMillis: number | undefined;
  readonly applicationName: string | undefined;
  /** Names of options that have no meaning here. */
  readonly unknown: readonly string[];
  /** What is wrong with the others. */
  readonly faults: readonly string[];
}

/** Reads options in the spelling of libpq or JDBC, joined by `&` or blanks, with the meaning of libpq. */
export function postgresqlOptions(text: string): PostgresqlOptions {
  const pairs = text
    .split(/[&\s]+/)
    .filter(Boolean)
    .map(pair);
  const given = new Map(pairs.map(({ name, value }) => [canonical(name), value]));
  const timeout = given.get("connecttimeout");
  const mode = given.get("sslmode") ?? (given.get("ssl") === "true" ? "verify-full" : "prefer");
  const sslMode = sslModes.find((known) => known === mode.toLowerCase());
  const faults = [
    ...(sslMode === undefined ? [`sslmode "${mode}" is not one of ${sslModes.join(", ")}`] : []),
    ...(timeout === undefined || isCount(timeout) ? [] : [`connect_timeout "${timeout}" is not a number of seconds`]),
  ];
  return {
    sslMode: sslMode ?? "verify-full",
    sslRootCert: given.get("sslrootcert"),
    sslCert: given.get("sslcert"),
    sslKey: given.get("sslkey"),
    connectTimeoutMillis: isCount(timeout) ? Number(timeout) * 1000 : undefined,
    applicationName: given.get("applicationname"),
    unknown: pairs.map(({ name }) => name).filter((name) => !known.has(canonical(name))),
    faults,
  };
}

const known = new Set(["sslmode", "ssl", "sslrootcert", "sslcert", "sslkey", "connecttimeout", "applicationname"]);

function isCount(text: string | undefined): text is string {
  return text !== undefined && /^\d+$/.test(text);
}

function pair(option: string): { readonly name: string; readonly value: string } {
  const [name = "", ...value] = option.split("=");
  return { name, value: value.join("=") };
}

// connect_timeout and connectTimeout, application_name and ApplicationName are the same option.
function canonical(name: string): string {
  return name.toLowerCase().replaceAll("_", "");
}
