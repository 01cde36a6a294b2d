export const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;

export type SslMode = (typeof sslModes)[number];

/** What `rdb_options` asks for; undefined where it says nothing. */
export interface ServerOptions {
  readonly sslMode: SslMode;
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  readonly connectTimeoutMillis: number | undefined;
  /** The longest time one statement may take. */
  readonly statementTimeoutMillis: number | undefined;
  readonly applicationName: string | undefined;
  /** Schemas for names that have none, in queries. */
  readonly searchPath: string | undefined;
  /** Names of options that have no meaning here. */
  readonly unknown: readonly string[];
  /** What is wrong with the others. */
  readonly faults: readonly string[];
}

/** One option as it was written; options that differ in capitals and `_` only have the same canonical name. */
export interface GivenOption {
  readonly name: string;
  readonly canonical: string;
  readonly value: string;
}

/** The options of a text in which `&` or blanks join them; a leading `?` of a URL does not count. */
export function givenOptions(text: string): readonly GivenOption[] {
  return text
    .replace(/^\s*\?/, "")
    .split(/[&\s]+/)
    .filter(Boolean)
    .map(given);
}

/** Milliseconds of an option in units of so many milliseconds; undefined when it is no count, which is a fault. */
export function millisOf(text: string | undefined, unit: number): number | undefined {
  return isCount(text) ? Number(text) * unit : undefined;
}

export function timeFault(name: string, text: string | undefined, unit: string): readonly string[] {
  return text === undefined || isCount(text) ? [] : [`${name} "${text}" is not a number of ${unit}`];
}

function isCount(text: string | undefined): text is string {
  return text !== undefined && /^\d+$/.test(text);
}

function given(option: string): GivenOption {
  const [name = "", ...value] = option.split("=");
  // connect_timeout and connectTimeout, application_name and ApplicationName are the same option.
  return { name, canonical: name.toLowerCase().replaceAll("_", ""), value: value.join("=") };
}
