import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { connectBySslMode, type Encryption } from "../../../plugins/rdb-sink/encryption.js";
import { postgresqlOptions } from "../../../plugins/rdb-sink/postgresql/database.js";
import { tempFolder } from "../../support/temp-folder.js";

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
  { text: "sslmode=require", expected: { sslMode: "require" } },
  { text: "SSLMode=Verify-Full", expected: { sslMode: "verify-full" } },
  { text: "ssl=true", expected: { sslMode: "verify-full" } },
  { text: "ssl=true&sslmode=disable", expected: { sslMode: "disable" } },
  {
    text: "sslrootcert=/a=b.pem&sslcert=c sslkey=d",
    expected: { sslRootCert: "/a=b.pem", sslCert: "c", sslKey: "d" },
  },
  { text: "connectTimeout=5&ApplicationName=x", expected: { connectTimeoutMillis: 5000, applicationName: "x" } },
  { text: "connect_timeout=5 application_name=x", expected: { connectTimeoutMillis: 5000, applicationName: "x" } },
  {
    text: "?currentSchema=a&socketTimeout=5&target_session_attrs=b",
    expected: { searchPath: "a", statementTimeoutMillis: 5000, unknown: ["target_session_attrs"] },
  },
  {
    text: "sslmode=maybe",
    expected: {
      sslMode: "verify-full",
      faults: ['sslmode "maybe" is not one of disable, allow, prefer, require, verify-ca, verify-full'],
    },
  },
  {
    text: "connect_timeout=soon",
    expected: { faults: ['connect_timeout "soon" is not a number of seconds'] },
  },
] as const;

for (const { text, expected } of cases)
  test(`rdb_options "${text}"`, () => assert.deepEqual(postgresqlOptions(text), { ...nothing, ...expected }));

const ways = [
  { mode: "disable", tried: ["plain"] },
  { mode: "allow", tried: ["plain", "unchecked"] },
  { mode: "prefer", tried: ["unchecked", "plain"] },
  { mode: "require", tried: ["unchecked"] },
  { mode: "verify-ca", tried: ["checked without name"] },
  { mode: "verify-full", tried: ["checked"] },
] as const;

for (const { mode, tried } of ways)
  test(`sslmode=${mode} tries ${tried.join(", then ")}`, async () => {
    const attempts: string[] = [];

    const connect = async (way: Encryption) => {
      if (way === false) attempts.push("plain");
      else if (way.rejectUnauthorized === false) attempts.push("unchecked");
      else attempts.push(way.checkServerIdentity === undefined ? "checked" : "checked without name");
      throw new Error("The server does not support SSL connections");
    };
    const connecting = connectBySslMode(postgresqlOptions(`sslmode=${mode}`), { connect, wantsOther: () => true });

    await assert.rejects(connecting);
    assert.deepEqual(attempts, tried);
  });

test("an unreadable certificate file is named", async () => {
  const options = postgresqlOptions("sslmode=verify-full&sslrootcert=nowhere/ca.pem");

  await assert.rejects(connectBySslMode(options, { connect: async () => undefined, wantsOther: () => true }), {
    message: 'the file of sslrootcert in rdb_options cannot be read: "nowhere/ca.pem" (ENOENT)',
    retryable: true,
  });
});

test("a certificate file that holds none is named, and tried again", async (context) => {
  const file = path.join(await tempFolder(context), "ca.pem");
  await writeFile(file, "hello");
  const options = postgresqlOptions(`sslmode=verify-full&sslrootcert=${file}`);

  const connecting = connectBySslMode(options, { connect: async () => undefined, wantsOther: () => true });

  await assert.rejects(connecting, {
    message: new RegExp(`^the file of sslrootcert in rdb_options cannot be used: "${file}": it holds no certificate`),
    retryable: true,
  });
});
