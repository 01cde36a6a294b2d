import assert from "node:assert/strict";
import { test } from "node:test";
import { examiner } from "../../../core/agent/examination/examiner.js";
import { ProbeRuns } from "../../../core/agent/examination/probe-runs.js";
import type { MqttConfig } from "../../../plugins/mqtt-source/config.js";
import { mqttProbes } from "../../../plugins/mqtt-source/probes.js";
import { freePort } from "../../support/free-port.js";
import { mosquittoProgram, startOwnMosquitto } from "../../support/own-mosquitto.js";
import { mqttConfig, runningSource } from "./running-source.js";

async function probed(config: Partial<MqttConfig>) {
  const runs = new ProbeRuns({ milliseconds: 30_000, atOnce: 1, running: undefined });
  const probes = mqttProbes({ ...mqttConfig, ...config }, "m", examiner({ now: () => new Date() }));
  const findings = await runs.all({ component: "m", kind: "source", type: "mqtt" }, probes);
  return findings.map(({ tried, outcome, reason = "" }) => ({ tried, outcome, reason }));
}

const program = await mosquittoProgram();
const skip = program === undefined ? "mosquitto is not installed" : false;

test("a broker that lets the source in passes, and a source that runs keeps its connection", {
  skip,
}, async (context) => {
  if (program === undefined) return;
  const broker = await startOwnMosquitto(program);
  context.after(() => broker.stop());
  const url = `mqtt://${broker.host}:${broker.port}`;
  const { lines } = await runningSource(context, { config: { url, client_id: "mine" } });

  const findings = await probed({ url, client_id: "mine", topics: ["a/#", "$share/g/b"] });

  assert.deepEqual(findings, [
    { tried: `connect to ${url}`, outcome: "ok", reason: "without TLS" },
    { tried: "subscribe to a/#", outcome: "ok", reason: "" },
  ]);
  assert.ok(!lines.some(({ message }) => message === "no connection to the broker"), JSON.stringify(lines));
});

test("a broker that refuses the user, and one that is away, are failures; the password is nowhere", {
  skip,
}, async (context) => {
  if (program === undefined) return;
  const broker = await startOwnMosquitto(program, { lines: ["allow_anonymous false"] });
  context.after(() => broker.stop());
  const secret = { username: "me", password: "sesame-1" };

  const refused = await probed({ url: `mqtt://${broker.host}:${broker.port}`, ...secret });
  const away = await probed({ url: `mqtt://127.0.0.1:${await freePort("127.0.0.1")}`, ...secret });

  assert.deepEqual(
    refused.map(({ outcome }) => outcome),
    ["failed", "skipped"],
  );
  assert.match(refused[0]?.reason ?? "", /Not authorized/i);
  assert.deepEqual(
    away.map(({ outcome }) => outcome),
    ["failed", "skipped"],
  );
  assert.doesNotMatch(JSON.stringify([refused, away]), /sesame/);
});
