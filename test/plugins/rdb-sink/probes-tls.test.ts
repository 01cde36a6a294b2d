import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { selfSigned } from "../../support/certificates.js";
import { startOwnPostgresql } from "../../support/own-postgresql.js";
import { postgresqlPrograms } from "../../support/postgresql-programs.js";
import { tempFolder } from "../../support/temp-folder.js";
import { found, probed } from "./probes.js";

const programs = await postgresqlPrograms();
const skip = programs === undefined ? "initdb and pg_ctl are not installed" : false;
const TLS = "encrypt the connection";
const LOGIN = "log in to database";

test("what was negotiated is said against what is asked for, with the end of the certificate", {
  skip,
}, async (context) => {
  if (programs === undefined) return;
  // The probes run at the first of January 2026, the server now.
  const tls = selfSigned("localhost");
  const server = await startOwnPostgresql(programs, tls);
  context.after(() => server.stop());
  const folder = await tempFolder(context);
  const ca = path.join(folder, "ca.pem");
  await writeFile(ca, tls.ca);
  const other = path.join(folder, "other.pem");
  await writeFile(other, selfSigned("other").ca);
  const config = (rdb_options: string) => ({ rdb_host: server.host, rdb_port: server.port, rdb_options });

  const unchecked = found(await probed(config("sslmode=require")), TLS);
  assert.deepEqual(unchecked, {
    outcome: "ok",
    reason: "TLSv1.3, certificate not verified (sslmode require); the certificate is valid until 2120-01-01",
  });
  const checked = found(await probed(config(`sslmode=verify-full&sslrootcert=${ca}`)), TLS);
  assert.match(checked.reason ?? "", /^TLSv1\.3, certificate verified \(sslmode verify-full\)/);
  const plain = found(await probed(config("sslmode=disable")), TLS);
  assert.deepEqual(plain, { outcome: "ok", reason: "not encrypted, as sslmode disable allows" });

  const strange = found(await probed(config(`sslmode=verify-full&sslrootcert=${other}`)), LOGIN);
  assert.equal(strange.outcome, "failed");
  assert.match(strange.reason ?? "", /^the certificate of the server at 127\.0\.0\.1:\d+ is not accepted/);
  const missing = found(await probed(config(`sslmode=verify-full&sslrootcert=${folder}/none.pem`)), LOGIN);
  assert.equal(missing.outcome, "failed");
  assert.match(missing.reason ?? "", /the file of sslrootcert in rdb_options cannot be read/);
});

test("a certificate that ends soon or has ended is a warning where nobody verifies it", { skip }, async (context) => {
  if (programs === undefined) return;
  const server = await startOwnPostgresql(programs, selfSigned("localhost", new Date("2026-01-01")));
  context.after(() => server.stop());

  const { outcome, reason, remedy } = found(
    await probed({ rdb_host: server.host, rdb_port: server.port, rdb_options: "sslmode=require" }),
    TLS,
  );

  assert.deepEqual([outcome, remedy], ["warning", "install a new certificate"]);
  assert.match(reason ?? "", /the certificate expired on 2026-01-01$/);
});
