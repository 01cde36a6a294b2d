import assert from "node:assert/strict";
import { pbkdf2Sync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { certificate } from "../../support/certificate.js";
import { startOwnMosquitto } from "../../support/own-mosquitto.js";
import { tempFolder } from "../../support/temp-folder.js";
import { brokerProgram, notification, publisher, runningSource } from "./running-source.js";

test("a source logs in, and a broker that refuses it is tried again and named without the password", async (context) => {
  const program = await brokerProgram(context);
  if (program === undefined) return;
  const users = path.join(await tempFolder(context), "users");
  await writeFile(users, `orion:${mosquittoHash("right-secret")}\n`, { mode: 0o600 });
  const lines = ["allow_anonymous false", `password_file ${users}`];
  const broker = await startOwnMosquitto(program, { lines });
  context.after(broker.stop);
  const url = `mqtt://127.0.0.1:${broker.port}`;
  const config = { url, topics: ["orion/#"], username: "orion" };

  const refused = await runningSource(context, { config: { ...config, password: "wrong-secret" } });
  const [line] = await refused.logged("no connection to the broker");
  const taken = await runningSource(context, { config: { ...config, password: "right-secret", client_id: "taken" } });
  await taken.logged("subscribed");
  const publish = await publisher(context, url, { username: "orion", password: "right-secret" });
  await publish("orion/a", notification(1));

  assert.deepEqual(await taken.received(1), ["1"]);
  assert.match(JSON.stringify(line), /Not authorized/);
  assert.deepEqual(taken.health, [{ state: "up" }]);
  assert.deepEqual(refused.health.length, 1);
  assert.match(JSON.stringify(refused.health), /degraded.*no connection to the broker: .*Not authorized/);
  assert.doesNotMatch(JSON.stringify([refused.lines, taken.lines]), /secret/);
});

test("each new reason of an outage is logged, with the end of it", async (context) => {
  const program = await brokerProgram(context);
  if (program === undefined) return;
  const users = path.join(await tempFolder(context), "users");
  await writeFile(users, `orion:${mosquittoHash("other")}\n`, { mode: 0o600 });
  const refusing = await startOwnMosquitto(program, { lines: ["allow_anonymous false", `password_file ${users}`] });
  context.after(refusing.stop);
  const { port } = refusing;
  const url = `mqtt://127.0.0.1:${port}`;
  const source = await runningSource(context, { config: { url, username: "orion", password: "wrong" } });
  await source.logged("no connection to the broker");
  await refusing.stop();
  await source.logged("no connection to the broker", 2);
  const taking = await startOwnMosquitto(program, { port, lines: ["allow_anonymous true"] });
  context.after(taking.stop);
  await source.logged("connected to the broker again");

  const reasons = source.lines
    .filter(({ message }) => message === "no connection to the broker")
    .map(({ fields }) => fields);
  // A broker that ends may take one more connection.
  assert.match(JSON.stringify(reasons), /Not authorized.*ECONN(?:RESET|REFUSED)/);
  assert.equal(new Set(reasons.map((fields) => JSON.stringify(fields))).size, reasons.length);
  assert.deepEqual(source.health.at(-1), { state: "up" });
});

test("mqtts takes a broker whose certificate it trusts, and no other", async (context) => {
  const program = await brokerProgram(context);
  const files = await certificate(context);
  if (program === undefined || files === undefined) return;
  const lines = ["allow_anonymous true", `certfile ${files.cert}`, `keyfile ${files.key}`];
  const broker = await startOwnMosquitto(program, { lines });
  context.after(broker.stop);
  const config = { url: `mqtts://127.0.0.1:${broker.port}`, topics: ["orion/#"] };

  const trusting = await runningSource(context, { config: { ...config, client_id: "a", tls_ca_file: files.cert } });
  const careless = await runningSource(context, { config: { ...config, client_id: "b", tls_verify: false } });
  const careful = await runningSource(context, { config: { ...config, client_id: "c" } });

  await trusting.logged("subscribed");
  await careless.logged("subscribed");
  const [line] = await careful.logged("no connection to the broker");
  assert.match(JSON.stringify(line), /self-signed certificate/);
});

test("a file of authorities that is replaced counts at a later try to connect", async (context) => {
  const program = await brokerProgram(context);
  const [files, other] = [await certificate(context), await certificate(context)];
  if (program === undefined || files === undefined || other === undefined) return;
  const lines = ["allow_anonymous true", `certfile ${files.cert}`, `keyfile ${files.key}`];
  const broker = await startOwnMosquitto(program, { lines });
  context.after(broker.stop);
  const url = `mqtts://127.0.0.1:${broker.port}`;
  const source = await runningSource(context, { config: { url, topics: ["orion/#"], tls_ca_file: other.cert } });
  await source.logged("no connection to the broker");

  await writeFile(other.cert, "half a file");
  const [unusable] = await source.logged("the files of certificates that were read before stay in use");
  await writeFile(other.cert, await readFile(files.cert));

  await source.logged("subscribed");
  assert.match(JSON.stringify(unusable), /tls_ca_file/);
  await source.logged("the files of certificates can be used again");
});

test("a certificate file that is not there fails the start and is named", async (context) => {
  const config = { tls_ca_file: "/nowhere/ca.pem" };

  await assert.rejects(runningSource(context, { config }), {
    code: "CERTIFICATE_UNREADABLE",
    message: `starting source "mqtt-source": reading the file "/nowhere/ca.pem" of its property "tls_ca_file" (ENOENT)`,
  });
});

/** As mosquitto_passwd writes it. */
function mosquittoHash(password: string): string {
  const iterations = 101;
  const salt = Buffer.from("twelve bytes");
  const hash = pbkdf2Sync(password, salt, iterations, 64, "sha512");
  return `$7$${iterations}$${salt.toString("base64")}$${hash.toString("base64")}`;
}
