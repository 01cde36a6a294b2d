import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { examiner } from "../../../core/agent/examination/examiner.js";
import type { Probe } from "../../../core/sdk/index.js";
import type { ConnectionConfig } from "../../../plugins/kafka/client/properties.js";
import { selfSigned } from "../../support/certificates.js";
import { freePort } from "../../support/free-port.js";
import { kafkaPrograms } from "../../support/kafka-jars.js";
import type { OwnKafka } from "../../support/own-kafka.js";
import { NO_KAFKA } from "../../support/provided-kafka.js";
import { startSecuredKafka } from "../../support/secured-kafka.js";
import { until } from "../../support/until.js";
import { type Allowed, allow, usersBy } from "./acls.js";
import { findingsOf } from "./findings.js";
import { never, ownLog } from "./own-log.js";
import { newSink } from "./running-sink.js";
import { newSource } from "./running-source.js";

const programs = await kafkaPrograms();
const skip = programs === undefined ? NO_KAFKA : false;
const folder = await mkdtemp(join(tmpdir(), "deneb-kafka-probes-"));
const [ca, other, broken] = [join(folder, "ca.pem"), join(folder, "other.pem"), join(folder, "broken.pem")];
const { admin, bob } = usersBy(ca);
const TOPIC = "there";
const TOPICS = [TOPIC, `${TOPIC}.agents`, `${TOPIC}.letters`];

/** It says that the broker is where nobody listens. */
const way = await freePort("127.0.0.1");

let kafka: OwnKafka;
before(async () => {
  const certificate = selfSigned("broker");
  await writeFile(ca, certificate.ca);
  await writeFile(other, selfSigned("other").ca);
  await writeFile(broken, "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n");
  if (programs === undefined) return;
  kafka = await startSecuredKafka(programs, certificate, [{ port: way, advertised: 1 }]);
});
after(async () => {
  if (programs !== undefined) await kafka.stop();
  await rm(folder, { recursive: true });
});

/** The probes of a channel, a sink and a source with this connection, and what each of them finds. */
async function findings(context: TestContext, changes: Partial<ConnectionConfig>, topic = TOPIC) {
  const config = { bootstrap_servers: [kafka.address], ...changes };
  const examines = examiner({ now: () => new Date() });
  const probesOf: Readonly<Record<string, readonly Probe[]>> = {
    channel: ownLog(context, kafka, { ...config, topic }).probes(examines),
    sink: newSink({ ...config, topic }).probes(examines),
    source: newSource({ ...config, topics: [topic], group: "g" }).source.probes(examines),
  };
  const found: Record<string, readonly string[]> = {};
  for (const [kind, probes] of Object.entries(probesOf)) found[kind] = await findingsOf(kind, probes);
  return found;
}

const refused: readonly {
  readonly what: string;
  readonly changes: () => Partial<ConnectionConfig>;
  readonly says: RegExp;
}[] = [
  {
    what: "a wrong password",
    changes: () => ({ sasl_password: "wrong-secret" }),
    says: /SASL_AUTHENTICATION_FAILED.* => see sasl_username and sasl_password$/s,
  },
  {
    what: "an authority that did not sign the certificate of the broker",
    changes: () => ({ ssl_ca_file: other }),
    says: /not signed by a trusted authority.* => give that authority in ssl_ca_file$/s,
  },
  {
    what: "a file that is not there",
    changes: () => ({ ssl_ca_file: "/nowhere/ca.pem" }),
    says: /"\/nowhere\/ca\.pem" of its property "ssl_ca_file"/,
  },
  { what: "a file that is no certificate", changes: () => ({ ssl_ca_file: broken }), says: /ssl_ca_file/ },
  {
    what: "no TLS",
    changes: () => ({ security_protocol: "SASL_PLAINTEXT", ssl_ca_file: "" }),
    says: / => the brokers may want another security_protocol than SASL_PLAINTEXT$/,
  },
  {
    what: "no user",
    changes: () => ({ security_protocol: "SSL", sasl_username: "", sasl_password: "" }),
    says: / => the brokers may want another security_protocol than SSL$/,
  },
  {
    what: "a broker that is not there",
    changes: () => ({ bootstrap_servers: ["127.0.0.1:1"] }),
    says: /ECONNREFUSED.* => see bootstrap_servers, and whether the brokers run$/s,
  },
];

for (const { what, changes, says } of refused)
  test(`with ${what} the first probe fails, says which property to look at, and holds no secret`, {
    skip,
  }, async (context) => {
    const found = await findings(context, { ...admin, ...changes() });

    for (const [first, ...more] of Object.values(found)) {
      assert.match(first ?? "", /^failed: /);
      assert.match(first ?? "", says);
      assert.deepEqual(more, []);
    }
    assert.doesNotMatch(JSON.stringify(found), /secret/);
  });

test("a broker that answers, and names an address at which it does not, is found by the first probe", {
  skip,
}, async (context) => {
  const found = await findings(context, { bootstrap_servers: [`127.0.0.1:${way}`] });

  for (const [first, ...more] of Object.values(found)) {
    assert.match(first ?? "", /^failed: .*1 of 1 brokers cannot be used: .*127\.0\.0\.1:1: ECONNREFUSED/);
    assert.match(first ?? "", / => see the advertised\.listeners of the brokers, and whether they run$/);
    assert.deepEqual(more, []);
  }
});

test("a right that the user lacks is named with its topic or group, one after another", { skip }, async (context) => {
  await ownLog(context, kafka, { ...admin, topic: TOPIC }).open(never());
  const steps: readonly { readonly given?: Allowed; readonly expected: Readonly<Record<string, RegExp>> }[] = [
    {
      expected: {
        channel: /^failed: .* => allow Describe, Read, Write, Delete on topic "there", and Describe, .*"there\.agents"/,
        sink: /^failed: .* => allow Describe, Write on topic "there"$/,
        source: /^failed: .* => allow Describe, Read on topic "there"\|failed: .*"g".* => allow Read on it$/,
      },
    },
    {
      given: { topics: TOPICS, groups: ["g"], operation: "Describe" },
      expected: {
        channel: /=> allow Read, Write, Delete on topic "there", and Read, .*"there\.letters"$/,
        sink: /=> allow Write on topic "there"$/,
        source: /=> allow Read on topic "there"\|failed: .* => allow Read on group "g"$/,
      },
    },
    {
      given: { topics: TOPICS, groups: ["g"], operation: "Read" },
      expected: {
        channel: /=> allow Write, Delete on topic "there"/,
        sink: /=> allow Write on topic "there"$/,
        source: /^ok: .*\|ok: it begins at the earliest record/,
      },
    },
    {
      given: { topics: TOPICS, operation: "Write" },
      expected: { channel: /=> allow Delete on topic "there"/, sink: /^ok: 2 partitions/, source: /^ok/ },
    },
    { given: { topics: TOPICS, operation: "Delete" }, expected: { channel: /^warning: .*DescribeConfigs/ } },
  ];
  for (const { given, expected } of steps) {
    if (given !== undefined) await allow(kafka, admin, given);
    for (const [kind, says] of Object.entries(expected)) {
      // A broker learns of its ACLs a moment later.
      await until(
        async () => ((await findings(context, bob))[kind] ?? []).slice(1).join("|"),
        (found) => says.test(found),
      );
    }
  }
});

test("topics that cannot be made say why: a right that is missing, or brokers", { skip }, async (context) => {
  await allow(kafka, admin, { topics: ["new", "new.agents", "new.letters"], operation: "Describe" });
  await allow(kafka, admin, { topics: ["new", "new.agents", "new.letters"], operation: "Read" });
  await allow(kafka, admin, { topics: ["new", "new.agents", "new.letters"], operation: "Write" });
  const mayNotMake = /AUTHORIZATION.* => .*Create on the/;
  const denied = await until(
    () => findings(context, bob, "new"),
    ({ channel, sink }) => [channel, sink].every((found) => mayNotMake.test(found?.[1] ?? "")),
  );
  const examines = examiner({ now: () => new Date() });
  const config = { ...admin, bootstrap_servers: [kafka.address], topic: "new", replication_factor: 3 };
  const lacking = [];
  for (const probes of [newSink(config).probes(examines), ownLog(context, kafka, config).probes(examines)])
    lacking.push((await findingsOf("any", probes))[1]);

  for (const kind of ["channel", "sink"]) assert.match(denied[kind]?.[1] ?? "", mayNotMake);
  for (const found of lacking)
    assert.match(found ?? "", /^failed: .* => start the others, or see replication_factor$/s);
});
