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
  const given = new Map(
    text
      .split(/[&\s]+/)
      .filter(Boolean)
      .map(pair),
  );
  const timeout = given.get("connecttimeout");
  const mode = given.get("sslmode") ?? (given.get("ssl") === "true" ? "verify-full" : "prefer");
  const sslMode = sslModes.find((known) => known === mode.toLowerCase());
  const faults = [
    ...(sslMode === undefined ? [`sslmode "${mode}" is not one of ${sslModes.join(", ")}`] : []),
    ...(timeout === undefined || /^\d+$/.test(timeout)
      ? []
      : [`connect_timeout "${timeout}" is not a number of seconds`]),
  ];
  return {
    sslMode: sslMode ?? "verify-full",
    sslRootCert: given.get("sslrootcert"),
    sslCert: given.get("sslcert"),
    sslKey: given.get("sslkey"),
    connectTimeoutMillis: timeout === undefined ? undefined : Number(timeout) * 1000,
    applicationName: given.get("applicationname"),
    unknown: [...given.keys()].filter((name) => !known.has(name)),
    faults,
  };
}

const known = new Set(["sslmode", "ssl", "sslrootcert", "sslcert", "sslkey", "connecttimeout", "applicationname"]);

// connect_timeout and connectTimeout, application_name and ApplicationName are the same option.
function pair(option: string): readonly [string, string] {
  const [name = "", ...value] = option.split("=");
  return [name.toLowerCase().replaceAll("_", ""), value.join("=")];
}
