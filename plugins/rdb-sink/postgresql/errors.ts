import type { Fault, FaultReader, Place } from "deneb/sql";

const MISSING = new Set(["3F000", "42P01", "42703"]);
// Deadlocks too: two sinks that alter the same tables in another order.
const RACED = new Set(["23505", "42P07", "42P06", "42701", "40P01", "XX000"]);
const PERMANENT_CLASSES = new Set(["0A", "22", "23", "42", "54"]);
// Functions and triggers, also those of extensions such as PostGIS, raise these for single values.
const DOUBTFUL_CLASSES = new Set(["09", "20", "21", "27", "2F", "38", "39", "44", "P0"]);
const CURABLE = new Set([...MISSING, "42501"]);
const SQLSTATE = /^[0-9A-Z]{5}$/;

export const postgresqlFaults: FaultReader = {
  missing: ({ code }) => code !== undefined && MISSING.has(code),
  raced: ({ code, message }) =>
    code !== undefined && RACED.has(code) && (code !== "XX000" || /concurrently/.test(message)),
  doubtful: ({ code, message }) =>
    code !== undefined &&
    (DOUBTFUL_CLASSES.has(code.slice(0, 2)) || (code === "XX000" && !/concurrently/.test(message))),
  retryable: ({ code }) => !isSqlState(code) || CURABLE.has(code) || !PERMANENT_CLASSES.has(code.slice(0, 2)),
  explain: (fault, place) =>
    explanations.find(({ when }) => when(fault))?.say(place, fault) ??
    `writing to ${described(place)} failed: ${fault.message}`,
};

/** True for the code of a server, false for the code of a Node error. */
export function isSqlState(code: string | undefined): code is string {
  return code !== undefined && SQLSTATE.test(code) && /\d/.test(code);
}

interface Explanation {
  when(fault: Fault): boolean;
  say(place: Place, fault: Fault): string;
}

const explanations: readonly Explanation[] = [
  {
    when: saying(/does not support SSL/),
    say: ({ address, options }) =>
      `the server at ${address} does not offer TLS but rdb_options has ${sslmode(options)}; use sslmode=prefer or enable TLS`,
  },
  {
    when: ({ code = "" }) => /CERT|SELF_SIGNED|UNABLE_TO_/.test(code),
    say: ({ address, options }, { message }) =>
      `the certificate of the server at ${address} is not accepted (${message}); rdb_options has ${sslmode(options)}: ` +
      "check sslrootcert, or use sslmode=require to go without the check",
  },
  {
    when: (fault) => coded("28P01")(fault) || saying(/client password must be/)(fault),
    say: (place) => `wrong password for ${described(place)}; check rdb_username and rdb_password`,
  },
  {
    when: coded("28000"),
    say: (place, { message }) =>
      `access to ${described(place)} is refused: ${message}; check rdb_username and pg_hba.conf`,
  },
  {
    when: coded("3D000"),
    say: (place) => `no ${described(place)}; create the database or change rdb_database`,
  },
  {
    when: coded("ECONNREFUSED"),
    say: ({ address }) =>
      `connection refused: no server listens at ${address}; start it or check rdb_host and rdb_port`,
  },
  {
    when: coded("ENOTFOUND", "EAI_AGAIN"),
    say: ({ address }) => `the host of ${address} is not known; check rdb_host`,
  },
  {
    when: (fault) => coded("ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH")(fault) || saying(/timeout/)(fault),
    say: (place) => `no answer in time from ${described(place)}; check rdb_host, rdb_port and the network`,
  },
  {
    when: coded("54011", "54000"),
    say: (place, { message }) =>
      `a table of ${described(place)} cannot have so many columns: ${message}; use attr_persistence = row for such entities`,
  },
  {
    when: coded("42P10"),
    say: (place, { message }) =>
      `a table of last data in ${described(place)} has no unique key over last_data_unique_key: ${message}; add it`,
  },
  {
    when: coded("53100"),
    say: (place) => `the disk of ${described(place)} is full; free space there`,
  },
  {
    when: coded("53300"),
    say: (place) => `${described(place)} has no connection left; raise max_connections or lower rdb_maxPoolSize`,
  },
  {
    when: coded("42501"),
    say: (place, { message }) => `a right is missing in ${described(place)}: ${message}; grant it to the user`,
  },
  {
    when: coded("25006"),
    say: (place) => `${described(place)} takes no writes now (a standby, or read-only); point rdb_host to the primary`,
  },
  {
    when: (fault) =>
      coded("ECONNRESET", "EPIPE", "57P01", "57P02", "57P03")(fault) || saying(/^Connection terminated/)(fault),
    say: (place, { message }) => `the connection to ${described(place)} broke: ${message}`,
  },
];

function coded(...codes: readonly string[]): Explanation["when"] {
  return ({ code }) => code !== undefined && codes.includes(code);
}

function saying(pattern: RegExp): Explanation["when"] {
  return ({ code, message }) => !isSqlState(code) && pattern.test(message);
}

function described({ address, database, username }: Place): string {
  return `database "${database}" at ${address} as user "${username}"`;
}

function sslmode(options: string): string {
  return options.match(/sslmode=[^&\s]*/)?.[0] ?? "ssl=true";
}
