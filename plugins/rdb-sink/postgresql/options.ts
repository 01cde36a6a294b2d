import { givenOptions, millisOf, type ServerOptions, sslModes, timeFault } from "../server.js";

const SECOND = 1000;

/** Parses options in the spelling of libpq or JDBC, separated by `&` or spaces, with the meaning of libpq. */
export function postgresqlOptions(text: string): ServerOptions {
  const options = givenOptions(text);
  const given = new Map(options.map(({ canonical, value }) => [canonical, value]));
  const mode = given.get("sslmode") ?? (given.get("ssl") === "true" ? "verify-full" : "prefer");
  const sslMode = sslModes.find((known) => known === mode.toLowerCase());
  const connect = given.get("connecttimeout");
  const statement = given.get("sockettimeout");
  return {
    sslMode: sslMode ?? "verify-full",
    sslRootCert: given.get("sslrootcert"),
    sslCert: given.get("sslcert"),
    sslKey: given.get("sslkey"),
    connectTimeoutMillis: millisOf(connect, SECOND),
    statementTimeoutMillis: millisOf(statement, SECOND),
    applicationName: given.get("applicationname"),
    searchPath: given.get("currentschema"),
    unknown: options.filter(({ canonical }) => !known.has(canonical)).map(({ name }) => name),
    faults: [
      ...(sslMode === undefined ? [`sslmode "${mode}" is not one of ${sslModes.join(", ")}`] : []),
      ...timeFault("connect_timeout", connect, "seconds"),
      ...timeFault("socketTimeout", statement, "seconds"),
    ],
  };
}

const known = new Set([
  "sslmode",
  "ssl",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "connecttimeout",
  "sockettimeout",
  "applicationname",
  "currentschema",
]);
