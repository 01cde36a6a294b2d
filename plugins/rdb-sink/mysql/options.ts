import { givenOptions, millisOf, type ServerOptions, type SslMode, timeFault } from "../server.js";

const SECOND = 1000;

/** Parses options with the spelling and meaning of Connector/J, or of libpq for certificates and connect_timeout. */
export function mysqlOptions(text: string): ServerOptions {
  const options = givenOptions(text);
  const given = new Map(options.map(({ canonical, value }) => [canonical, value]));
  const mode = given.get("sslmode") ?? modeOfFlags(given);
  const sslMode = modes.get(mode.toLowerCase().replaceAll("_", "-"));
  const connect = options.find(({ canonical }) => canonical === "connecttimeout");
  const statement = given.get("sockettimeout");
  // libpq counts in seconds, Connector/J in milliseconds.
  const [unit, unitName] =
    connect?.name.includes("_") === true ? ([SECOND, "seconds"] as const) : ([1, "milliseconds"] as const);
  return {
    sslMode: sslMode ?? "verify-full",
    sslRootCert: given.get("sslrootcert"),
    sslCert: given.get("sslcert"),
    sslKey: given.get("sslkey"),
    connectTimeoutMillis: millisOf(connect?.value, unit),
    statementTimeoutMillis: millisOf(statement, 1),
    applicationName: given.get("applicationname"),
    searchPath: undefined,
    unknown: options.filter(({ canonical }) => !known.has(canonical)).map(({ name }) => name),
    faults: [
      ...(sslMode === undefined ? [`sslMode "${mode}" is not one of ${[...modes.keys()].join(", ")}`] : []),
      ...timeFault(connect?.name ?? "", connect?.value, unitName),
      ...timeFault("socketTimeout", statement, "milliseconds"),
    ],
  };
}

/** useSSL without requireSSL connects without TLS if the server has none. */
function modeOfFlags(given: ReadonlyMap<string, string>): string {
  if (given.get("usessl") === "false") return "disabled";
  if (given.get("verifyservercertificate") === "true") return "verify-ca";
  return given.get("requiressl") === "true" ? "required" : "preferred";
}

const modes: ReadonlyMap<string, SslMode> = new Map([
  ["disabled", "disable"],
  ["preferred", "prefer"],
  ["required", "require"],
  ["verify-ca", "verify-ca"],
  ["verify-identity", "verify-full"],
  ["disable", "disable"],
  ["allow", "allow"],
  ["prefer", "prefer"],
  ["require", "require"],
  ["verify-full", "verify-full"],
]);

const known = new Set([
  "sslmode",
  "usessl",
  "requiressl",
  "verifyservercertificate",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "connecttimeout",
  "sockettimeout",
  "applicationname",
]);
