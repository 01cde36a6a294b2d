import assert from "node:assert/strict";
import { test } from "node:test";
import { mysqlErrors } from "../../../plugins/rdb-sink/mysql/errors.js";
import { postgresqlErrors } from "../../../plugins/rdb-sink/postgresql/errors.js";

const server = { address: "db:1", database: "d", username: "u", options: "sslmode=verify-ca" };

const cases = [
  {
    what: "a certificate of the server that has expired",
    error: { code: "CERT_HAS_EXPIRED", message: "certificate has expired" },
    says: /^the certificate of the server at db:1 is not valid now \(certificate has expired\); have it renewed, or use /,
  },
  {
    what: "one that the driver of MySQL reports under its own code",
    error: { code: "HANDSHAKE_SSL_ERROR", message: "certificate is not yet valid" },
    says: /^the certificate of the server at db:1 is not valid now \(certificate is not yet valid\); have it renewed/,
  },
  {
    what: "one of an authority that is not trusted",
    error: { code: "SELF_SIGNED_CERT_IN_CHAIN", message: "self-signed certificate in certificate chain" },
    says: /^the certificate of the server at db:1 is not accepted \(self-signed .*\); .*check sslrootcert in rdb_options, or use /,
  },
  {
    what: "a certificate of this client that the server refuses",
    error: { code: "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", message: "80CC:error:0A000418:SSL routines::tlsv1 alert" },
    says: /^the server at db:1 refuses the certificate of this client, or wants one \(ERR_SSL_TLSV1_ALERT_UNKNOWN_CA\); check sslcert and sslkey in rdb_options$/,
  },
] as const;

for (const { what, error, says } of cases)
  test(`the message about ${what} says what to do, whatever the database`, () => {
    for (const errors of [postgresqlErrors, mysqlErrors]) assert.match(errors.explain(error, server), says);
  });
