import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import type { AgentError } from "../../../core/sdk/index.js";
import { rejects } from "../../../core/testing/log/log-case.js";
import { type Certificate, certificate } from "../../support/certificate.js";
import { selfSigned } from "../../support/certificates.js";
import type { NatsSettings } from "../../support/own-nats.js";
import { repositoryRoot } from "../../support/repository.js";
import { tempFolder } from "../../support/temp-folder.js";
import { logOf, never, type Overrides, ownNats } from "./nats.js";

const users = 'authorization { users: [ { user: "deneb", password: "right-secret" } ] }';
const token = 'authorization { token: "right-secret" }';

const refused: readonly {
  readonly title: string;
  readonly lines: readonly string[];
  readonly config: Omit<Overrides, "servers">;
}[] = [
  { title: "a wrong password", lines: [users], config: { username: "deneb", password: "wrong-secret" } },
  { title: "an unknown user", lines: [users], config: { username: "nobody", password: "wrong-secret" } },
  { title: "no user at all", lines: [users], config: {} },
  { title: "a wrong token", lines: [token], config: { token: "wrong-secret" } },
];

for (const { title, lines, config } of refused)
  test(`${title} is refused by the server and named without secrets`, async (context) => {
    const server = await ownNats(context, { lines });
    if (server === undefined) return;

    const opening = logOf(context, { servers: [server.url], ...config }).open(never());

    await rejects(opening, "LOG_DENIED", false);
    await assert.rejects(opening, ({ message }: AgentError) => {
      assert.match(message, /connecting to NATS at nats:.*refuses the credentials; check username, password, token/);
      assert.doesNotMatch(message, /secret/);
      return true;
    });
  });

test("a user with its password and a token open the log", async (context) => {
  const [one, other] = [await ownNats(context, { lines: [users] }), await ownNats(context, { lines: [token] })];
  if (one === undefined || other === undefined) return;

  for (const login of [
    { servers: [one.url], username: "deneb", password: "right-secret" },
    { servers: [other.url], token: "right-secret" },
  ]) {
    const log = logOf(context, login);
    await log.open(never());
    assert.equal((await log.append(0, Buffer.from("a"))).offset, 1);
  }
});

test("a server that refuses the agent keeps it from no other one, and explains more than those that are away", async (context) => {
  const [gone, one, other] = [
    await ownNats(context),
    await ownNats(context, { lines: [users] }),
    await ownNats(context),
  ];
  if (gone === undefined || one === undefined || other === undefined) return;
  await gone.stop();
  const refusing = [one.url, one.url, one.url];

  // They are tried in an order of chance.
  for (let time = 1; time <= 4; time += 1) await logOf(context, { servers: [...refusing, other.url] }).open(never());
  const opening = logOf(context, { servers: [one.url, gone.url], request_timeout: 5000 }).open(never());

  await rejects(opening, "LOG_DENIED", false);
});

const stream = "orders";
const everything = '"$JS.API.>", "_INBOX.>", "orders.>"';

const permissions: readonly { readonly title: string; readonly deny: string; readonly says: RegExp }[] = [
  { title: "making streams", deny: '"$JS.API.STREAM.CREATE.>"', says: /may not publish to "\$JS\.API\.STREAM\.CREATE/ },
  { title: "reading settings", deny: '"$JS.API.STREAM.INFO.>"', says: /may not publish to "\$JS\.API\.STREAM\.INFO/ },
  { title: "appending", deny: '"orders.p.*"', says: /may not publish to "orders\.p\.0"/ },
  { title: "reading", deny: '"$JS.API.DIRECT.GET.>"', says: /may not publish to "\$JS\.API\.DIRECT\.GET/ },
  { title: "measuring", deny: '"$JS.API.CONSUMER.>"', says: /may not publish to "\$JS\.API\.CONSUMER\.CREATE/ },
  { title: "trimming", deny: '"$JS.API.STREAM.PURGE.>"', says: /may not publish to "\$JS\.API\.STREAM\.PURGE/ },
];

for (const { title, deny, says } of permissions)
  test(`a user without the right of ${title} is told which subject`, async (context) => {
    const rights = `permissions: { publish: { allow: [${everything}], deny: [${deny}] }, subscribe: [${everything}] }`;
    const lines = [`authorization { users: [ { user: "deneb", password: "x", ${rights} } ] }`];
    const server = await ownNats(context, { lines });
    if (server === undefined) return;
    const log = logOf(context, { servers: [server.url], stream, username: "deneb", password: "x" });

    const working = (async () => {
      await log.open(never());
      await log.append(0, Buffer.from("a"));
      await log.read(new Map([[0, 0]]), { bytes: 1000, waitMillis: 10_000 }, never());
      await log.bounds([0]);
      await log.trim(new Map([[0, 2]]));
    })();

    await rejects(working, "LOG_DENIED", false);
    await assert.rejects(working, says);
  });

test("the rights that the page of the plugin lists are enough for everything", async (context) => {
  const page = await readFile(path.join(repositoryRoot, "plugins/jetstream/README.md"), "utf8");
  const [, publish = "", subscribe = ""] =
    /publish ((?:`[^`]*`[^`]*)+); subscribe ((?:`[^`]*`[^`]*)+)\. Agents/.exec(page) ?? [];
  const subjects = (text: string) =>
    [...text.matchAll(/`(\S+)`/g)].map(([, subject = ""]) => `"${subject.replaceAll("deneb", stream)}"`);
  assert.equal(subjects(publish).length, 9);
  const rights = `permissions: { publish: [${subjects(publish)}], subscribe: [${subjects(subscribe)}] }`;
  const lines = [`authorization { users: [ { user: "deneb", password: "x", ${rights} } ] }`];
  const server = await ownNats(context, { lines });
  if (server === undefined) return;
  const log = logOf(context, { servers: [server.url], stream, username: "deneb", password: "x" });

  await log.open(never());
  const { offset } = await log.append("agents", Buffer.from("a"));
  await log.append("agents", Buffer.from("b"));
  await log.read(new Map([["agents", 0]]), { bytes: 1000, waitMillis: 10_000 }, never());
  await log.trim(new Map([["agents", offset + 1]]));

  assert.deepEqual((await log.bounds(["agents"])).get("agents"), { first: offset + 1, next: offset + 2 });
  await log.close(never());
  assert.doesNotMatch(await readFile(path.join(server.folder, "log"), "utf8"), /Permissions? Violation/i);
});

test("a user who may not receive answers is told so", async (context) => {
  const rights = `permissions: { publish: [${everything}], subscribe: ["orders.>"] }`;
  const lines = [`authorization { users: [ { user: "deneb", password: "x", ${rights} } ] }`];
  const server = await ownNats(context, { lines });
  if (server === undefined) return;

  const opening = logOf(context, { servers: [server.url], stream, username: "deneb", password: "x" }).open(never());

  await rejects(opening, "LOG_DENIED", false);
  await assert.rejects(opening, /may not subscribe to "_INBOX/);
});

test("a user who may not listen to announcements reads nevertheless", async (context) => {
  const rights = `permissions: { publish: ["$JS.API.>", "orders.p.*"], subscribe: ["_INBOX.>"] }`;
  const lines = [`authorization { users: [ { user: "deneb", password: "x", ${rights} } ] }`];
  const server = await ownNats(context, { lines });
  if (server === undefined) return;
  const login = { servers: [server.url], stream, username: "deneb", password: "x" };
  const [one, other] = [logOf(context, login), logOf(context, login)];
  await one.open(never());
  await other.open(never());

  const reading = other.read(new Map([[1, 0]]), { bytes: 1000, waitMillis: 30_000 }, never());
  await one.append(1, Buffer.from("news"));

  assert.equal(Buffer.from((await reading).get(1)?.[0]?.value ?? []).toString(), "news");
});

function tlsServer(more: string, files: Readonly<Record<string, string>>): NatsSettings {
  return { lines: [`tls { cert_file: "$folder/cert.pem", key_file: "$folder/key.pem" ${more} }`], files };
}

test("tls servers are believed with their authority only, and clients with their certificate", async (context) => {
  const [own, client, stranger] = [selfSigned("nats"), selfSigned("deneb"), selfSigned("stranger")];
  const files = { "cert.pem": own.cert, "key.pem": own.key, "clients.pem": client.cert };
  const plain = await ownNats(context, tlsServer("", files));
  const mutual = await ownNats(context, tlsServer(', ca_file: "$folder/clients.pem", verify: true', files));
  const without = await ownNats(context);
  if (plain === undefined || mutual === undefined || without === undefined) return;
  const folder = await tempFolder(context);
  const file = async (name: string, content: string): Promise<string> => {
    await writeFile(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const ca = await file("ca.pem", own.cert);
  const other = await file("other.pem", stranger.cert);
  const mine = { tls_cert_file: await file("me.pem", client.cert), tls_key_file: await file("me.key", client.key) };
  const theirs = { tls_cert_file: other, tls_key_file: await file("other.key", stranger.key) };
  const tls = (url: string) => [url.replace("nats:", "tls:")];
  const denied: readonly (readonly [Overrides, RegExp])[] = [
    [{ servers: tls(plain.url) }, /not signed by a trusted authority \(\w+\); give that authority in tls_ca_file/],
    [{ servers: [plain.url] }, /not signed by a trusted authority \(\w+\); give that authority in tls_ca_file/],
    [
      { servers: tls(plain.url), tls_ca_file: other },
      /not signed by a trusted authority \(\w+\); give that authority in tls_ca_file/,
    ],
    [{ servers: tls(mutual.url), tls_ca_file: ca }, /refuses the certificate of this client.*see tls_cert_file/],
    [{ servers: tls(mutual.url), tls_ca_file: ca, ...theirs }, /certificate of this client.*see tls_cert_file/],
    [{ servers: tls(without.url), tls_ca_file: ca }, /does not offer TLS/],
    [{ servers: tls(without.url) }, /does not offer TLS/],
  ];

  for (const [config, says] of denied) {
    const opening = logOf(context, config).open(never());
    await rejects(opening, "LOG_DENIED", false);
    await assert.rejects(opening, says);
  }
  for (const config of [
    { servers: tls(plain.url), tls_ca_file: ca },
    { servers: [plain.url], tls_ca_file: ca },
    { servers: tls(plain.url), tls_verify: false },
    { servers: tls(mutual.url), tls_ca_file: ca, ...mine },
  ]) {
    await logOf(context, config).open(never());
  }
});

test("the certificate of a server that is named by its address is for that address, and not for localhost", async (context) => {
  const [address, local] = [await certificate(context), await certificate(context, "DNS:localhost")];
  if (address === undefined || local === undefined) return;
  const serving = async ({ cert, key }: Certificate) => {
    const files = { "cert.pem": await readFile(cert, "utf8"), "key.pem": await readFile(key, "utf8") };
    return await ownNats(context, tlsServer("", files));
  };
  const [one, other] = [await serving(address), await serving(local)];
  if (one === undefined || other === undefined) return;

  await logOf(context, { servers: [one.url], tls_ca_file: address.cert }).open(never());
  const opening = logOf(context, { servers: [other.url], tls_ca_file: local.cert }).open(never());

  await rejects(opening, "LOG_DENIED", false);
  await assert.rejects(opening, /for another host \(ERR_TLS_CERT_ALTNAME_INVALID\)/);
});
