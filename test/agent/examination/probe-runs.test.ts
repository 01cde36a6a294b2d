import assert from "node:assert/strict";
import { test } from "node:test";
import { type Finding, ProbeRuns } from "../../../core/agent/examination/probe-runs.js";
import { AgentError, type Probe, type ProbeResult } from "../../../core/sdk/index.js";

const examinee = { component: "c", kind: "sink", type: "t" };

function runs(limits: { milliseconds?: number; atOnce?: number; running?: number } = {}) {
  return new ProbeRuns({ milliseconds: 60_000, atOnce: 8, running: undefined, ...limits });
}

function probe(tries: string, run: Probe["run"], next: readonly Probe[] = []): Probe {
  return { tries, run, next };
}

const ok = async (): Promise<ProbeResult> => ({ outcome: "ok" });

function seen(findings: readonly Finding[]) {
  return findings.map(({ tried, outcome, reason, remedy }) => [tried, outcome, reason, remedy]);
}

test("a probe that never answers is a failure at the time limit, its signal aborts, and the others are tried", async () => {
  let aborted = false;
  const hanging: Probe["run"] = (signal) => {
    signal.addEventListener("abort", () => {
      aborted = true;
    });
    return new Promise(() => undefined);
  };

  const findings = await runs({ milliseconds: 20, atOnce: 1 }).all(examinee, [
    probe("hang", hanging, [probe("more", ok)]),
    probe("work", ok),
  ]);

  assert.deepEqual(seen(findings), [
    ["hang", "failed", "no result within 0.02 s", "see whether it hangs, or raise --probe-timeout"],
    ["more", "skipped", 'needs "hang"', undefined],
    ["work", "ok", undefined, undefined],
  ]);
  assert.ok(aborted);
});

test("no more probes run at a time than the limit says, those after others one by one", async () => {
  let now = 0;
  let most = 0;
  const counted: Probe["run"] = async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return { outcome: "ok" };
  };
  const probes = Array.from({ length: 5 }, (_, at) =>
    probe(`${at}`, counted, [probe("a", counted), probe("b", counted)]),
  );

  const findings = await runs({ atOnce: 2 }).all(examinee, probes);

  assert.equal(most, 2);
  assert.equal(findings.length, 15);
});

const failures = [
  {
    what: "what follows the last semicolon of a message is the remedy, and its cause belongs to the reason",
    run: async () => {
      throw new AgentError("X", "opening a; b; do c", { cause: new Error("why"), retryable: false });
    },
    finding: ["try", "failed", "opening a; b: why", "do c"],
  },
  {
    what: "a probe that throws at once is a failure",
    run: () => {
      throw new Error("broken");
    },
    finding: ["try", "failed", "broken", undefined],
  },
  {
    what: "a result that is none is a failure that names the plugin",
    run: async () => JSON.parse("{}"),
    finding: [
      "try",
      "failed",
      "the probe returned no result",
      "its plugin must be corrected: an outcome is ok, warning or failed",
    ],
  },
] as const;

for (const { what, run, finding } of failures)
  test(what, async () => {
    assert.deepEqual(seen(await runs().all(examinee, [probe("try", run)])), [finding]);
  });

test("a port that is in use is no failure while an agent runs with the same file", async () => {
  const inUse: Probe["run"] = async () => {
    throw new AgentError("PORT_IN_USE", "another program listens there; stop it", { retryable: true });
  };

  const [own] = await runs({ running: 7 }).all(examinee, [probe("listen", inUse)]);
  const [strange] = await runs().all(examinee, [probe("listen", inUse)]);

  assert.deepEqual([own?.outcome, own?.reason], ["ok", "the agent that runs with this file holds it (pid 7)"]);
  assert.deepEqual([strange?.outcome, strange?.remedy], ["failed", "stop it"]);
});
