import assert from "node:assert/strict";
import { test } from "node:test";
import { mysqlOptions } from "../../../plugins/rdb-sink/mysql/database.js";

const nothing = {
  sslMode: "prefer",
  sslRootCert: undefined,
  sslCert: undefined,
  sslKey: undefined,
  connectTimeoutMillis: undefined,
  statementTimeoutMillis: undefined,
  applicationName: undefined,
  searchPath: undefined,
  unknown: [],
  faults: [],
} as const;

const cases = [
  { text: "", expected: {} },
  { text: "?useSSL=false", expected: { sslMode: "disable" } },
  { text: "useSSL=true&requireSSL=false", expected: {} },
  { text: "useSSL=true&requireSSL=true", expected: { sslMode: "require" } },
  {
    text: "useSSL=true&verifyServerCertificate=true&sslrootcert=ca.pem",
    expected: { sslMode: "verify-ca", sslRootCert: "ca.pem" },
  },
  { text: "sslMode=VERIFY_IDENTITY&useSSL=false", expected: { sslMode: "verify-full" } },
  { text: "sslmode=verify-full", expected: { sslMode: "verify-full" } },
  {
    text: "connectTimeout=500&socketTimeout=700",
    expected: { connectTimeoutMillis: 500, statementTimeoutMillis: 700 },
  },
  { text: "connect_timeout=5", expected: { connectTimeoutMillis: 5000 } },
  { text: "characterEncoding=utf8&autoReconnect=true", expected: { unknown: ["characterEncoding", "autoReconnect"] } },
  { text: "connectTimeout=soon", expected: { faults: ['connectTimeout "soon" is not a number of milliseconds'] } },
] as const;

for (const { text, expected } of cases)
  test(`rdb_options "${text}" of MySQL`, () => assert.deepEqual(mysqlOptions(text), { ...nothing, ...expected }));

test("an sslMode that does not exist is a fault, and never means no TLS", () => {
  const { sslMode, faults } = mysqlOptions("sslMode=maybe");

  assert.equal(sslMode, "verify-full");
  assert.match(faults.join(), /^sslMode "maybe" is not one of disabled, preferred, required,/);
});
