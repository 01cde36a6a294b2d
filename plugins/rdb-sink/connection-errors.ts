import type { DatabaseError, ServerAddress } from "deneb/sql";
import { coded, type Described, type Explanation } from "./explanation.js";

/** What errors of Node mean that come instead of an answer of a server. */
export function networkErrors(described: Described): readonly Explanation[] {
  return [
    {
      when: coded("ECONNREFUSED"),
      say: ({ address }) =>
        `connection refused: no server listens at ${address}; start it or check rdb_host and rdb_port`,
    },
    {
      when: coded("EAI_AGAIN"),
      say: ({ address }) => `the host of ${address} cannot be looked up now: no name server answers; check DNS`,
    },
    {
      when: coded("ENOTFOUND"),
      say: ({ address }) => `the host of ${address} is not known; check rdb_host`,
    },
    noAnswer(coded("ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"), described),
  ];
}

/** The server did not answer in time, by what a driver says of it. */
export function noAnswer(when: Explanation["when"], described: Described): Explanation {
  return {
    when,
    say: (server) => `no answer in time from ${described(server)}; check rdb_host, rdb_port and the network`,
  };
}

const OF_CERTIFICATES = /CERT|SELF_SIGNED|UNABLE_TO_|HANDSHAKE_SSL|^ERR_SSL_/;
const ALERT = /_ALERT_.*(?:CERTIFICATE|UNKNOWN_CA)/;
const NOT_NOW = /certificate has expired|certificate is not yet valid/;

/** What a driver uses to connect without the check of the certificate, in the words of its rdb_options. */
interface Words {
  readonly unchecked: string;
  /** What rdb_options say of TLS; undefined where the message says nothing of it. */
  readonly given?: string;
}

/** Whether an error is about the certificate of the server, or of this client. */
export function isOfCertificates({ code = "" }: Pick<DatabaseError, "code">): boolean {
  return OF_CERTIFICATES.test(code);
}

/** What is wrong with a certificate, and what to do. */
export function certificateFault(
  { code = "", message }: DatabaseError,
  { address }: ServerAddress,
  { unchecked, given }: Words,
): string {
  if (ALERT.test(code))
    return `the server at ${address} refuses the certificate of this client, or wants one (${code}); check sslcert and sslkey in rdb_options`;
  if (code.startsWith("ERR_SSL_")) return `TLS with the server at ${address} failed (${code}); check rdb_options`;
  const without = `use ${unchecked} to go without the check`;
  const asked = given === undefined ? "" : `rdb_options has ${given}: `;
  return NOT_NOW.test(message)
    ? `the certificate of the server at ${address} is not valid now (${message}); have it renewed, or ${without}`
    : `the certificate of the server at ${address} is not accepted (${message}); ${asked}check sslrootcert in rdb_options, or ${without}`;
}
