import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { KafkaLogConfig } from "../../../plugins/kafka/config.js";
import { selfSigned } from "../../support/certificates.js";
import { kafkaPrograms } from "../../support/kafka-jars.js";
import { type OwnKafka, startOwnKafka } from "../../support/own-kafka.js";
import { NO_KAFKA } from "../../support/provided-kafka.js";
import { PASSWORDS, SESSION_MILLIS, startSecuredKafka } from "../../support/secured-kafka.js";
import { until } from "../../support/until.js";
import { allow, usersBy } from "./acls.js";
import { failureOf, never, ownLog, recordsOf, textsOf } from "./own-log.js";
import { runningSource } from "./running-source.js";

const broker = selfSigned("broker");
const programs = await kafkaPrograms();
const skip = programs === undefined ? NO_KAFKA : false;
const folder = await mkdtemp(join(tmpdir(), "deneb-kafka-certificates-"));
const [ca, other] = [join(folder, "ca.pem"), join(folder, "other.pem")];

let kafka: OwnKafka;
before(async () => {
  await writeFile(ca, broker.ca);
  await writeFile(other, selfSigned("other").ca);
  if (programs !== undefined) kafka = await startSecuredKafka(programs, broker);
});
after(async () => {
  if (programs !== undefined) await kafka.stop();
  await rm(folder, { recursive: true });
});

const { admin, bob } = usersBy(ca);

for (const sasl_mechanism of ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] as const)
  test(`a log works over TLS with a user by ${sasl_mechanism}`, { skip }, async (context) => {
    const log = ownLog(context, kafka, { ...admin, sasl_mechanism });
    await log.open(never());
    await log.append(0, Buffer.from("kept"));

    assert.deepEqual(textsOf(await recordsOf(log, 0)), ["kept"]);
  });

test("what is appended while the sessions of its user end is in the log once, and in order", {
  skip,
}, async (context) => {
  const log = ownLog(context, kafka, { ...admin, sasl_mechanism: "SCRAM-SHA-512", partitions: 8 });
  await log.open(never());
  const counts = new Map<number, number>();
  const end = performance.now() + 4 * SESSION_MILLIS;
  const parts = Array.from({ length: 8 }, (_, part) => part);
  await Promise.all(
    parts.map(async (part) => {
      for (let count = 1; performance.now() < end; count += 1) {
        await log.append(part, Buffer.from(`${count}`));
        counts.set(part, count);
      }
    }),
  );

  for (const part of parts) {
    const texts = Array.from({ length: counts.get(part) ?? 0 }, (_, at) => `${at + 1}`);
    assert.deepEqual(textsOf(await recordsOf(log, part)), texts);
  }
});

const refused: readonly { readonly what: string; readonly changes: Partial<KafkaLogConfig>; readonly names: RegExp }[] =
  [
    {
      what: "a wrong password by PLAIN",
      changes: { sasl_mechanism: "PLAIN", sasl_password: "wrong-secret" },
      names: /sasl_password/,
    },
    { what: "a wrong password by SCRAM", changes: { sasl_password: "wrong-secret" }, names: /sasl_password/ },
    { what: "an unknown user", changes: { sasl_username: "eve" }, names: /sasl_username/ },
    { what: "another authority than that of the broker", changes: { ssl_ca_file: other }, names: /ssl_ca_file/ },
    { what: "no authority for a certificate that signs itself", changes: { ssl_ca_file: "" }, names: /ssl_ca_file/ },
    {
      what: "a user who may not make topics",
      changes: { sasl_username: "bob", sasl_password: PASSWORDS.bob },
      names: /AUTHORIZATION_FAILED/,
    },
  ];

for (const { what, changes, names } of refused)
  test(`${what} is refused for good, and no password is in the message`, { skip }, async (context) => {
    const failure = await failureOf(ownLog(context, kafka, { ...admin, ...changes }).open(never()));

    assert.deepEqual([failure.code, failure.retryable], ["LOG_DENIED", false], failure.message);
    assert.match(failure.message, names);
    assert.doesNotMatch(failure.message, /secret/);
  });

test("a client without TLS learns which property to look at", { skip }, async (context) => {
  const without = { security_protocol: "PLAINTEXT", request_timeout: 3000 } as const;
  const failure = await failureOf(ownLog(context, kafka, without).open(never()));

  assert.equal(failure.code, "LOG_UNAVAILABLE");
  assert.match(failure.message, /security_protocol/);
});

test("a user who may see a topic and not write to it is told so by the append", { skip }, async (context) => {
  const topic = "seen";
  await ownLog(context, kafka, { ...admin, topic }).open(never());
  await allow(kafka, admin, { topics: [topic, `${topic}.agents`, `${topic}.letters`], operation: "Describe" });
  const log = ownLog(context, kafka, { ...bob, topic });

  const { warnings } = await log.open(never());
  const failure = await failureOf(log.append(0, Buffer.from("event")));
  const another = await failureOf(log.append(0, Buffer.from("a longer event")));
  const reading = await failureOf(log.read(new Map([[0, 0]]), { bytes: 1000, waitMillis: 5000 }, never()));

  assert.match(warnings.join("\n"), /settings of topic "seen" cannot be read/);
  for (const { code, retryable } of [failure, reading]) assert.deepEqual([code, retryable], ["LOG_DENIED", false]);
  assert.match(failure.message, /allow Write/);
  // Each text is a cause that is logged: those of all sizes are one.
  assert.equal(another.message, failure.message);
});

test("a user who may not read what a topic takes appends what it takes, and hears from the brokers what is too large", {
  skip,
}, async (context) => {
  const topic = "unknown";
  await ownLog(context, kafka, { ...admin, topic, max_message_bytes: 3_000_000 }).open(never());
  const topics = [topic, `${topic}.agents`, `${topic}.letters`];
  for (const operation of ["Describe", "Write"] as const) await allow(kafka, admin, { topics, operation });
  const log = ownLog(context, kafka, { ...bob, topic });
  await log.open(never());
  await log.settings();

  const { offset } = await log.append(0, Buffer.alloc(2_500_000));
  const failure = await failureOf(log.append(0, Buffer.alloc(3_500_000)));

  assert.equal(offset, 0);
  assert.deepEqual([failure.code, failure.retryable], ["RECORD_TOO_LARGE", false]);
  assert.match(failure.message, /max\.message\.bytes/);
});

test("a source says why it does not read, and reads the topics that it may while others are denied or not there", {
  skip,
}, async (context) => {
  const topic = "read";
  const topics = [topic, `${topic}.letters`, "none"];
  await ownLog(context, kafka, { ...admin, topic }).open(never());
  const config = { ...bob, bootstrap_servers: [kafka.address], topics, group: "readers" };
  const { lines, reports } = await runningSource(context, { config });
  const reason = (name: string) =>
    until(
      async () => lines.filter(({ fields }) => JSON.stringify(fields).includes(name)),
      (found) => found.length > 0,
    );

  await reason("TOPIC_AUTHORIZATION_FAILED");
  await allow(kafka, admin, { topics: [`${topic}.letters`], operation: "Describe" });
  await allow(kafka, admin, { topics: [topic, "none"], operation: "Read" });
  await reason("GROUP_AUTHORIZATION_FAILED");
  await allow(kafka, admin, { groups: ["readers"], operation: "Read" });
  await until(
    async () => lines.at(-1)?.message,
    (message) => message === "reading",
  );

  const denied = `TOPIC_AUTHORIZATION_FAILED, the user lacks Read on topic "${topic}.letters"; allow it by the ACLs of the topic`;
  assert.deepEqual(reports.at(-1), { state: "degraded", reason: denied });
  assert.deepEqual(lines.at(-1)?.fields, { topics, group: "readers", partitions: 2 });
});

test("a client without a certificate that brokers trust learns which property to look at", {
  skip,
}, async (context) => {
  if (programs === undefined) return;
  const mutual = await startOwnKafka(programs, {
    protocol: "SSL",
    files: { "server.pem": `${broker.key}${broker.cert}`, "ca.pem": broker.ca },
    lines: [
      "ssl.client.auth=required",
      ...["keystore", "truststore"].map((store) => `ssl.${store}.type=PEM`),
      "ssl.keystore.location=FOLDER/server.pem",
      "ssl.truststore.location=FOLDER/ca.pem",
    ],
  });
  context.after(() => mutual.stop());
  const [cert, key, strange] = [join(folder, "cert.pem"), join(folder, "key.pem"), selfSigned("strange")];
  const trusted = { security_protocol: "SSL", ssl_ca_file: ca } as const;
  const named = { ...trusted, ssl_cert_file: cert, ssl_key_file: key };

  const without = await failureOf(ownLog(context, mutual, trusted).open(never()));
  await writeFile(cert, strange.cert);
  await writeFile(key, strange.key);
  const untrusted = await failureOf(ownLog(context, mutual, named).open(never()));
  await writeFile(cert, broker.cert);
  await writeFile(key, broker.key);
  await ownLog(context, mutual, named).open(never());

  for (const { code, message } of [without, untrusted]) {
    assert.equal(code, "LOG_DENIED");
    assert.match(message, /see ssl_cert_file and ssl_key_file/);
  }
});
