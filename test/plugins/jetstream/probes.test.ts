import assert from "node:assert/strict";
import { test } from "node:test";
import { examiner } from "../../../core/agent/examination/examiner.js";
import { ProbeRuns } from "../../../core/agent/examination/probe-runs.js";
import { JetStreamLog } from "../../../plugins/jetstream/log/jetstream-log.js";
import { freePort } from "../../support/free-port.js";
import { administer, removeStream } from "./administration.js";
import { configOf, logOf, nameOfStream, never, type Overrides, ownNats, sharedNats } from "./nats.js";

async function probed(overrides: Overrides) {
  const runs = new ProbeRuns({ milliseconds: 30_000, atOnce: 1, running: undefined });
  const log = new JetStreamLog(configOf(overrides), 'channel "log"');
  const probes = log.probes(examiner({ now: () => new Date() }));
  const findings = await runs.all({ component: "log", kind: "channel", type: "jetstream" }, probes);
  return findings.map(({ tried, outcome, reason = "", remedy = "" }) => ({ tried, outcome, reason, remedy }));
}

test("a stream that does not exist yet passes, and is not made", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();

  const findings = await probed({ servers: [server], stream });

  assert.deepEqual(
    findings.map(({ tried, outcome }) => [tried, outcome]),
    [
      [`connect to ${server}`, "ok"],
      [`read the settings of the stream "${stream}"`, "ok"],
    ],
  );
  assert.match(findings[0]?.reason ?? "", /^NATS \d+\.\d+\.\d+, without TLS$/);
  assert.match(findings[1]?.reason ?? "", /the agent makes it/);
  assert.ok("error" in (await administer(server, `STREAM.INFO.${stream}`)));
});

test("one replica is a warning, other settings and a missing stream that may not be made are failures", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  context.after(() => removeStream(server, stream));
  await logOf(context, { servers: [server], stream }).open(never());

  const [, replica] = await probed({ servers: [server], stream });
  const [, partitions] = await probed({ servers: [server], stream, partitions: 5 });
  const [, missing] = await probed({ servers: [server], create_stream: false });

  assert.equal(replica?.outcome, "warning");
  assert.match(`${replica?.reason}|${replica?.remedy}`, /has one replica.*\|use three replicas/);
  assert.equal(partitions?.outcome, "failed");
  assert.match(`${partitions?.reason}|${partitions?.remedy}`, /has 2 partitions .* says 5\|set the property to 2/);
  assert.equal(missing?.outcome, "failed");
  assert.match(missing?.remedy ?? "", /make it, or set create_stream = true/);
});

test("a server that is away, and one that refuses the user, are failures; the password is nowhere", async (context) => {
  const server = await ownNats(context, { lines: ['authorization { users: [ { user: "me", password: "right" } ] }'] });
  if (server === undefined) return;
  const login = { username: "me", password: "sesame-1", request_timeout: 3000 };

  const refused = await probed({ servers: [server.url], ...login });
  const away = await probed({ servers: [`nats://127.0.0.1:${await freePort("127.0.0.1")}`], ...login });

  for (const [findings, reason] of [
    [refused, /refuses the credentials/],
    [away, /ECONNREFUSED/],
  ] as const) {
    assert.deepEqual(
      findings.map(({ outcome }) => outcome),
      ["failed", "skipped"],
    );
    assert.match(findings[0]?.reason ?? "", reason);
    assert.doesNotMatch(JSON.stringify(findings), /sesame/);
  }
});
