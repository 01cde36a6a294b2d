import type { DatabaseError, ServerAddress } from "deneb/sql";

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
