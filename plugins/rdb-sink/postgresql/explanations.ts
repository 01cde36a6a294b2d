import type { ServerAddress } from "deneb/sql";
import { certificateFault, isOfCertificates, networkErrors, noAnswer } from "../connection-errors.js";
import { coded, type Explanation, explainedBy } from "../explanation.js";
import {
  IDLE,
  IDLE_IN_TRANSACTION,
  isOfTheSystem,
  isSqlState,
  isWithoutPostgis,
  isWithoutTimescale,
  LOCKED,
  NOT_PERMITTED,
  NOT_READY,
  OUT_OF_STEP,
  RAISED,
  READ_ONLY,
  STATEMENT_CANCELED,
  TRANSACTION_ENDED,
  UNREADABLE,
} from "./error-kinds.js";
import { namesHolder } from "./held-locks.js";

const explanations: readonly Explanation[] = [
  {
    when: saying(/does not support SSL/),
    say: ({ address, options }) =>
      `the server at ${address} does not offer TLS but rdb_options has ${sslmode(options)}; use sslmode=prefer or enable TLS`,
  },
  {
    when: isOfCertificates,
    say: (server, error) =>
      certificateFault(error, server, { unchecked: "sslmode=require", given: sslmode(server.options) }),
  },
  {
    when: saying(/Unknown authenticationOk message type|SASL: Only mechanism/),
    say: (server) =>
      `${described(server)} asks for an authentication that Deneb does not have, such as GSSAPI; let pg_hba.conf ask this user ` +
      "for scram-sha-256, md5 or a certificate",
  },
  {
    when: saying(new RegExp(`^${OUT_OF_STEP}`)),
    say: (server, { message }) =>
      `the answers of ${described(server)} are out of step, ${message}; a pooler or proxy before it has to keep to one connection within a transaction`,
  },
  {
    when: saying(new RegExp(`^(?:${UNREADABLE}|received invalid response|There was an error establishing an SSL)`)),
    say: (server, { message }) =>
      `${described(server)} cannot be understood: ${message}; check that rdb_host and rdb_port lead to a PostgreSQL`,
  },
  {
    when: ofPooler(/^no such database: /),
    say: ({ address, database, username }) =>
      `the pooler at ${address} has no database "${database}" (as user "${username}"); add it to its [databases] or change rdb_database`,
  },
  {
    when: ofPooler(/^query_wait_timeout$/),
    say: (server, { message }) =>
      `the pooler before ${described(server)} had no connection to its server in time: ${message}; ` +
      "see in its log whether it reaches the server, raise its pool size or lower rdb_maxPoolSize",
  },
  {
    when: ofPooler(/^no more connections allowed/),
    say: (server, { message }) =>
      `the pooler before ${described(server)} has no connection left: ${message}; raise max_client_conn there, or lower rdb_maxPoolSize`,
  },
  {
    when: ofPooler(/cannot connect to server|^server (?:login|DNS lookup)|\(server down\)$/),
    say: (server, { message }) =>
      `the pooler before ${described(server)} does not reach its server: ${message}; start that server or check the address in [databases] of the pooler`,
  },
  {
    when: (error) =>
      coded("28P01")(error) ||
      saying(/client password must be/)(error) ||
      ofPooler(/^(?:password|SASL) authentication failed|^no such user/)(error),
    say: (server) =>
      `wrong password for ${described(server)}; check rdb_username, rdb_password and VALID UNTIL of the role`,
  },
  {
    when: coded("28000"),
    say: (server, { message }) =>
      `access to ${described(server)} is refused: ${message}; check rdb_username, LOGIN of the role and pg_hba.conf`,
  },
  {
    when: ({ code, opening }) => opening === true && code === NOT_READY,
    say: (server, { message }) =>
      `connecting to ${described(server)} is refused: ${message}; ALTER DATABASE ... ALLOW_CONNECTIONS true lets clients in again`,
  },
  {
    when: (error) => coded("3D000")(error) || ofPooler(/^database ".*" does not exist/)(error),
    say: ({ address, username }, { message }) =>
      `${message} at ${address} (as user "${username}"); create the database or change rdb_database`,
  },
  ...networkErrors(described),
  {
    when: (error) => coded(STATEMENT_CANCELED)(error) && namesHolder(error),
    say: (server, { message }) =>
      `${described(server)} took too long: ${message}; end that transaction if the agent waits for it, else raise rdb_statement_timeout`,
  },
  {
    when: coded(STATEMENT_CANCELED),
    say: (server, { message }) =>
      `${described(server)} took too long: ${message}; a batch is written in parts then, raise rdb_statement_timeout if it needs more`,
  },
  {
    when: coded(TRANSACTION_ENDED),
    say: (server, { message }) =>
      `${described(server)} took too long: ${message}; a batch is written in parts then, raise transaction_timeout of the user if it needs more`,
  },
  {
    when: coded(IDLE_IN_TRANSACTION, IDLE),
    say: (server, { message }) =>
      `${described(server)} ends connections that are idle for a moment: ${message}; raise ` +
      "idle_in_transaction_session_timeout and idle_session_timeout of the user",
  },
  {
    when: coded(LOCKED),
    say: (server, { message }) =>
      `somebody keeps a table of ${described(server)} locked: ${message}; end that transaction, or raise lock_timeout of the user`,
  },
  noAnswer(saying(/\btimeout\b/), described),
  {
    when: coded("54000"),
    say: (server, { message }) =>
      `a row is larger than a table or an index of ${described(server)} takes: ${message}; drop such an index, or use ` +
      "attr_persistence = row for such entities",
  },
  {
    when: coded("54011"),
    say: (server, { message }) =>
      `a table of ${described(server)} has too many columns: ${message}; use attr_persistence = row for such entities`,
  },
  {
    when: coded("42P10"),
    say: (server, { message }) =>
      `a table of last data in ${described(server)} has no unique key over last_data_unique_key, as after a change of that or of ` +
      `attr_persistence: ${message}; set another last_data_table_suffix, so that new tables are made, or give it that key in place of its own`,
  },
  {
    when: isWithoutPostgis,
    say: (server) =>
      `PostGIS is missing in ${described(server)}; a superuser of the server must run CREATE EXTENSION postgis there, for example: ` +
      `psql -d ${server.database} -c "CREATE EXTENSION postgis"`,
  },
  {
    when: isWithoutTimescale,
    say: (server) =>
      `timescaledb = true, and ${described(server)} has no TimescaleDB; run CREATE EXTENSION timescaledb there, or remove the property`,
  },
  {
    when: coded("22P05"),
    say: (server, { message }) =>
      `${described(server)} has no encoding for all characters: ${message}; use a database with encoding UTF8`,
  },
  {
    when: (error) => coded("53100")(error) || (isOfTheSystem(error) && /quota|space/.test(error.message)),
    say: (server) => `the disk of ${described(server)} is full; free space there`,
  },
  {
    when: coded("53300"),
    say: (server, { message }) =>
      `${described(server)} has no connection left: ${message}; raise that limit, or lower rdb_maxPoolSize`,
  },
  {
    when: isOfTheSystem,
    say: (server, { message }) =>
      `the system refuses ${described(server)} its work: ${message}; the log of that system says why`,
  },
  {
    when: ({ code }) => code?.startsWith(RAISED) === true,
    say: (server, { code, message }) =>
      `a trigger, or another server behind a table, of ${described(server)} raised ${code?.slice(RAISED.length)}: ${message}`,
  },
  {
    when: coded(NOT_PERMITTED),
    say: (server, { message }) => `a right is missing in ${described(server)}: ${message}; grant it to the user`,
  },
  {
    when: coded(READ_ONLY),
    say: (server) =>
      `${described(server)} takes no writes now (a standby, or read-only); point rdb_host to the primary, or switch default_transaction_read_only off`,
  },
  {
    when: (error) =>
      coded("ECONNRESET", "EPIPE", "57P01", "57P02", "57P03")(error) || saying(/^Connection terminated/)(error),
    say: (server, { message }) => `the connection to ${described(server)} broke: ${message}`,
  },
];

/** What an error of this server means, for people. */
export const explained = explainedBy(explanations, described);

function saying(pattern: RegExp): Explanation["when"] {
  return ({ code, message }) => !isSqlState(code) && pattern.test(message);
}

/** What PgBouncer says itself, with 08P01 or, in newer versions, a code of its kind. */
function ofPooler(pattern: RegExp): Explanation["when"] {
  return ({ code = "", message }) => /^(?:08|28|3D|53|57|58)/.test(code) && pattern.test(message);
}

function described({ address, database, username }: ServerAddress): string {
  return `database "${database}" at ${address} as user "${username}"`;
}

function sslmode(options: string): string {
  return options.match(/sslmode=[^&\s]*/)?.[0] ?? "ssl=true";
}
