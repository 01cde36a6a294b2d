import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { after, type TestContext, test } from "node:test";
import { missingFor, readGrants, revokedFrom } from "../../../plugins/rdb-sink/mysql/grants.js";
import { tablesWithoutKey } from "../../../plugins/rdb-sink/mysql/probes.js";
import { mysqlServer } from "../../support/mysql.js";
import { DENIED, FULL_LOGIN, mysqlAskingFor } from "./fake-server.js";
import { found, probed, troubles } from "./probes.js";

const ON_DISK = "see that rows are on disk when they are confirmed";
const RIGHTS = "see the rights";
const server = await mysqlServer();
after(() => server?.drop());
const skip = server === undefined ? "MySQL is not reachable" : false;

/** The configuration of a user with these grants, each `privileges ON databases`. */
async function userWith(context: TestContext, ...grants: readonly string[]) {
  if (server === undefined) throw new Error("MySQL is not reachable");
  const { host, port, query } = server;
  const user = `deneb_${randomBytes(4).toString("hex")}`;
  await query(`CREATE USER ${user}@'%' IDENTIFIED BY 'sesame-1'`);
  context.after(() => query(`DROP USER ${user}@'%'`));
  for (const grant of grants) await query(`GRANT ${grant} TO ${user}@'%'`);
  return {
    rdb_dialect: "mysql",
    rdb_host: host,
    rdb_port: port,
    rdb_username: user,
    rdb_password: "sesame-1",
  } as const;
}

test("a user with all rights passes, and nothing is left behind", { skip }, async (context) => {
  const config = await userWith(context, "ALL PRIVILEGES ON *.*");
  const databases = async () => await server?.query("SHOW DATABASES LIKE '%check%'");
  const before = await databases();

  const findings = await probed(config);

  // MySQL makes a certificate for itself that is not valid yet at the time of the test, and a server of tests may not wait for its disk.
  const ofServer = new Set(["encrypt the connection", ON_DISK]);
  const others = findings.filter(({ tried }) => !ofServer.has(tried));
  assert.deepEqual(troubles(others), []);
  assert.deepEqual(await databases(), before);
});

test("a server that confirms rows before they are on disk is a warning that says what to set", {
  skip,
}, async (context) => {
  const config = await userWith(context, "ALL PRIVILEGES ON *.*");
  const [row] = (await server?.query("SELECT @@innodb_flush_log_at_trx_commit AS waits")) ?? [];
  context.after(() => server?.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${row?.["waits"]}`));
  const findings = async (value: number) => {
    await server?.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`);
    return found(await probed(config), ON_DISK);
  };

  assert.deepEqual(await findings(1), { outcome: "ok" });
  const { outcome, reason, remedy } = await findings(2);
  assert.equal(outcome, "warning");
  assert.match(reason ?? "", /^innodb_flush_log_at_trx_commit is 2: when the server crashes, it loses rows/);
  assert.equal(remedy, "set innodb_flush_log_at_trx_commit = 1");
});

test("a user without rights is a failure that names them, and its password is nowhere", { skip }, async (context) => {
  const findings = await probed(await userWith(context, "SELECT, INSERT ON *.*"));

  const { outcome, reason, remedy } = found(findings, RIGHTS);
  assert.equal(outcome, "failed");
  assert.match(reason ?? "", /^UPDATE, DELETE, CREATE, ALTER on all databases are not granted to "deneb_/);
  assert.match(remedy ?? "", /^an administrator can run GRANT UPDATE, DELETE, CREATE, ALTER ON \*\.\* TO the user/);
  assert.doesNotMatch(JSON.stringify(findings), /sesame/);
});

test("a user with rights to some databases is a warning that names them", { skip }, async (context) => {
  const config = await userWith(context, "ALL PRIVILEGES ON `denebprobe\\_%`.*");

  const { outcome, reason } = found(await probed(config), RIGHTS);

  assert.equal(outcome, "warning");
  assert.match(reason ?? "", /; only databases with these names can be used: denebprobe\\_%$/);
});

test("a role that is not a default one is a warning that says how it becomes one", { skip }, async (context) => {
  const config = await userWith(context);
  const role = `${config.rdb_username}_role`;
  await server?.query(`CREATE ROLE ${role}`);
  context.after(() => server?.query(`DROP ROLE ${role}`));
  await server?.query(`GRANT ALL PRIVILEGES ON *.* TO ${role}`);
  await server?.query(`GRANT ${role} TO ${config.rdb_username}@'%'`);

  const { outcome, reason, remedy } = found(await probed(config), RIGHTS);

  assert.equal(outcome, "warning");
  assert.match(reason ?? "", /, and roles may give it: .*deneb_[0-9a-f]{8}_role/);
  assert.match(remedy ?? "", /, or make the roles default ones \(SET DEFAULT ROLE\)$/);
});

test("a wrong password is one failure", { skip }, async (context) => {
  const config = { ...(await userWith(context)), rdb_password: "wrong-word" };

  const findings = await probed(config);

  assert.equal(findings[0]?.outcome, "failed");
  assert.match(findings[0]?.remedy ?? "", /check rdb_username and rdb_password/);
  assert.doesNotMatch(JSON.stringify(findings), /wrong-word/);
});

test("an account that is locked is one failure that says what lets it in again", { skip }, async (context) => {
  const config = await userWith(context);
  await server?.query(`ALTER USER ${config.rdb_username}@'%' ACCOUNT LOCK`);

  const findings = await probed(config);

  assert.equal(findings[0]?.outcome, "failed");
  assert.match(String(findings[0]?.remedy ?? findings[0]?.reason), /ACCOUNT UNLOCK lets it in again/);
});

test("an account of the socket of the server alone has another reason than a wrong password", {
  skip,
}, async (context) => {
  const config = await userWith(context);
  const [plugin] =
    (await server?.query(
      "SELECT plugin_name AS name FROM information_schema.plugins WHERE plugin_name IN ('unix_socket', 'auth_socket')",
    )) ?? [];
  if (plugin === undefined) return void context.skip("the server has no plugin for it");
  const way = plugin["name"] === "unix_socket" ? "VIA" : "WITH";
  await server?.query(`ALTER USER ${config.rdb_username}@'%' IDENTIFIED ${way} ${plugin["name"]}`);

  const [finding] = await probed(config);

  assert.equal(finding?.outcome, "failed");
  assert.match(
    `${finding?.reason}; ${finding?.remedy}`,
    /does not let the account log in by a password, .*: Access denied for user [^:]*; make a user with a password for the agent$/,
  );
});

test("a way to log in that Deneb does not have is named with those that it has, and nothing that is meant for programmers", async (context) => {
  const port = await mysqlAskingFor(context, "parsec");

  const [finding] = await probed({ rdb_dialect: "mysql", rdb_host: "127.0.0.1", rdb_port: port, rdb_username: "u" });

  assert.equal(finding?.outcome, "failed");
  assert.match(
    `${finding?.reason}; ${finding?.remedy}`,
    /a way that Deneb does not have: .* unknown plugin parsec; give the account mysql_native_password or .*asks for the way of another one, and after a wrong password for the next way of the account$/,
  );
});

const RSA = { modulusLength: 2048, publicKeyEncoding: { type: "spki", format: "pem" } } as const;

const logins = [
  { plugin: "caching_sha2_password", answers: [FULL_LOGIN, DENIED], says: /no TLS and the server has no RSA key/ },
  { plugin: "sha256_password", answers: [DENIED], says: /no TLS and the server has no RSA key/ },
  { plugin: "caching_sha2_password", answers: [FULL_LOGIN, "key", DENIED], says: /wrong user or password/ },
  { plugin: "sha256_password", answers: ["key", DENIED], says: /wrong user or password/ },
  { plugin: "mysql_native_password", answers: [DENIED], says: /wrong user or password/ },
];

for (const { plugin, answers, says } of logins) {
  const has = answers.includes("key") ? "with" : "without";
  test(`a login by ${plugin} that a server ${has} a key for the password refuses has its own reason`, async (context) => {
    const { publicKey } = generateKeyPairSync("rsa", { ...RSA, privateKeyEncoding: { type: "pkcs8", format: "pem" } });
    const sent = answers.map((answer) => (answer === "key" ? `\x01${publicKey}` : answer));
    const rdb_port = await mysqlAskingFor(context, plugin, sent);
    const account = { rdb_username: "u", rdb_password: "p", rdb_options: "sslMode=PREFERRED" };

    const [finding] = await probed({ rdb_dialect: "mysql", rdb_host: "127.0.0.1", rdb_port, ...account });

    assert.equal(finding?.outcome, "failed");
    assert.match(`${finding?.reason}; ${finding?.remedy}`, says);
  });
}

const ALL = ["SELECT", "CREATE"];
const grantCases = [
  { line: "GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION", name: undefined, missing: [] },
  { line: "GRANT SELECT, CREATE ON `a\\_b`.* TO `u`@`%`", name: "a_b", missing: [] },
  { line: "GRANT SELECT, CREATE ON `a\\_b`.* TO `u`@`%`", name: "axb", missing: ALL },
  { line: "GRANT SELECT ON `a_b`.* TO `u`@`%`", name: "axb", missing: ["CREATE"] },
  { line: "GRANT ALL PRIVILEGES ON `o``dd.%`.* TO `u`@`%`", name: "o`dd.x", missing: [] },
  { line: 'GRANT SELECT, CREATE ON "o""dd".* TO "u"@"%"', name: 'o"dd', missing: [] },
  { line: "GRANT SELECT ON `a`.`b` TO `u`@`%`", name: "a", missing: ALL },
  { line: "GRANT `role` TO `u`@`%`", name: "a", missing: ALL },
  { line: "GRANT ALL PRIVILEGES ON `%`.* TO `u`@`%`", name: undefined, missing: [] },
] as const;

/** As MySQL 8 tells them. */
const partly = [
  "GRANT SELECT, CREATE ON *.* TO `u`@`%`",
  "REVOKE CREATE ON `a_b`.* FROM `u`@`%`",
  "REVOKE SELECT, CREATE ON `c`.* FROM `u`@`%`",
  "GRANT SELECT ON `c`.* TO `u`@`%`",
];

for (const { name, missing } of [
  { name: undefined, missing: [] },
  { name: "axb", missing: [] },
  { name: "a_b", missing: ["CREATE"] },
  { name: "c", missing: ["CREATE"] },
])
  test(`what was revoked in part from a right to all databases is missing in database ${name ?? "any"}: ${missing}`, () => {
    assert.deepEqual(missingFor(name, ALL, readGrants(partly)), missing);
  });

test("databases from which a wanted right was revoked in part are found, those of the server left out", () => {
  const lines = [...partly, "REVOKE SELECT ON `mysql`.* FROM `u`@`%`", "REVOKE DROP ON `d`.* FROM `u`@`%`"];

  assert.deepEqual(revokedFrom(ALL, readGrants(lines)), [
    { database: "a_b", missing: ["CREATE"] },
    { database: "c", missing: ["CREATE"] },
  ]);
});

for (const { line, name, missing } of grantCases)
  test(`${line}: for ${name ?? "any database"} ${missing.join(", ") || "nothing"} is missing`, () => {
    assert.deepEqual(missingFor(name, ALL, readGrants([line])), missing);
  });

const key = "set sql_generate_invisible_primary_key = ON there";
const serversWithKeys = [
  { requiredBy: undefined, generated: false, partitioned: true, remedy: undefined },
  { requiredBy: "sql_require_primary_key", generated: true, partitioned: false, remedy: undefined },
  { requiredBy: "sql_require_primary_key", generated: false, partitioned: false, remedy: key },
  { requiredBy: "Group Replication", generated: false, partitioned: true, remedy: `${key} and partition = none` },
  { requiredBy: "Group Replication", generated: true, partitioned: true, remedy: "set partition = none" },
  {
    requiredBy: undefined,
    generated: true,
    partitioned: true,
    remedy: "set partition = none, or switch that variable off there",
  },
] as const;

for (const { remedy, ...server } of serversWithKeys)
  test(`tables of history ${remedy === undefined ? "can" : "cannot"} be made: ${JSON.stringify(server)}`, () => {
    const result = tablesWithoutKey(server);

    assert.deepEqual([result.outcome, result.remedy], [remedy === undefined ? "ok" : "failed", remedy]);
  });
