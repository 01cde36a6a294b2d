import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, PROMETHEUS } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { AgentError, type AnyPlugin, positionFaults } from "../../core/sdk/index.js";
import { CLOCK } from "../../core/tokens.js";
import memoryChannel from "../../plugins/memory-channel/index.js";
import { recordingLog } from "../support/recording-log.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { settableClock } from "../support/settable-clock.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const common = { summary: "for tests", stability: "stable", config: {} } as const;
const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });

/** An agent of one channel and one sink, whose writes fail as told. */
async function running(context: TestContext, fail: () => Error | undefined, deadLetterBytes = 9999) {
  const sink = new ScriptedSink(fail);
  const plugin: AnyPlugin = { ...common, kind: "sink", type: "scripted", create: () => sink };
  const batching = { batchSize: 1, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] };
  const topology: Topology = {
    agent: "a",
    sources: [],
    channels: [
      node("c1", memoryChannel, { capacity: 10, transactionCapacity: 10, "keep-alive": 0, byteCapacity: 500 }),
    ],
    sinks: [{ ...node("k1", plugin), channel: "c1", batching }],
  };
  const { log } = recordingLog();
  const dataDir = await tempFolder(context);
  const container = agentContainer({
    topology,
    dataDir,
    loggers: { of: () => log },
    deadLetterLimits: { days: 0, bytes: deadLetterBytes },
  });
  const clock = settableClock();
  container.register(CLOCK, { useValue: clock });
  const agent = container.resolve(AGENT);
  await agent.start(1000);
  context.after(() => agent.stop(100));
  const put = async () => {
    const transaction = agent.assembly.channels[0]?.channel.openPut();
    transaction?.put({ headers: {}, body: 1 });
    await transaction?.commit();
  };
  return { clock, put, scrape: () => container.resolve(PROMETHEUS).text() };
}

const numberOf = (text: string, series: string) =>
  text
    .split("\n")
    .find((line) => line.startsWith(`${series} `))
    ?.split(" ")
    .at(-1);

test("a sink has its series with 0 before the first event", async (context) => {
  const { scrape } = await running(context, () => undefined);

  const text = await scrape();

  for (const series of [
    'deneb_sink_writes_total{sink="k1",service="",result="stored"}',
    'deneb_sink_writes_total{sink="k1",service="",result="failed"}',
    'deneb_sink_sent_bytes_total{sink="k1",service=""}',
    'deneb_sink_dead_letters_total{sink="k1",service=""}',
    'deneb_sink_write_seconds_count{sink="k1",result="failed"}',
    'deneb_sink_delay_seconds_count{sink="k1"}',
    'deneb_dead_letters_open{sink="k1",reason="permanent"}',
    'deneb_dead_letters_kept_total{sink="k1",reason="retries-exhausted"}',
    'deneb_component_problem{kind="sink",name="k1",cause="store-failing"}',
    'deneb_ledger_events_total{channel="c1",outcome="lost"}',
    'deneb_ledger_unaccounted_events{channel="c1"}',
  ])
    assert.equal(numberOf(text, series), "0", series);
  assert.equal(numberOf(text, 'deneb_sink_store_ok{sink="k1"}'), "1");
  assert.equal(numberOf(text, 'deneb_channel_capacity_bytes{channel="c1"}'), "500");
  assert.equal(numberOf(text, "deneb_dead_letters_limit_bytes"), "9999");
});

const later = "after ten seconds";
const { foreign, conflict } = positionFaults;
const failures = [
  { what: "a store that is away", code: "AWAY", label: "AWAY", cause: "store-failing", when: later },
  { what: "a foreign position", code: foreign, label: "POSITION_FOREIGN", cause: "position-conflict", when: "at once" },
  { what: "a moved position", code: conflict, label: "POSITION_CONFLICT", cause: "position-conflict", when: later },
  { what: "a code that is no word", code: 'x"} 1\ny', label: "other", cause: "store-failing", when: later },
] as const;

for (const { what, code, label, cause, when } of failures)
  test(`${what} is the problem ${cause} ${when}, and the code of the store at once, until it is over`, async (context) => {
    let broken = true;
    const driver = Object.assign(new Error("no server"), { code: "ECONNREFUSED" });
    const error = new AgentError(code, "storing", {
      retryable: true,
      cause: new Error("connecting", { cause: driver }),
    });
    const { clock, put, scrape } = await running(context, () => (broken ? error : undefined));
    const ok = 'deneb_sink_store_ok{sink="k1"}';
    const problem = `deneb_component_problem{kind="sink",name="k1",cause="${cause}"}`;
    const becomes = (value: string) => until(scrape, (text) => numberOf(text, ok) === value);

    await put();
    const early = await becomes("0");
    clock.pass(10);
    const late = await scrape();
    broken = false;
    const after = await becomes("1");

    assert.equal(numberOf(early, `deneb_sink_store_error{sink="k1",code="${label}",cause="ECONNREFUSED"}`), "1");
    const soon = when === later ? "0" : "2";
    assert.deepEqual([numberOf(early, problem), numberOf(late, problem), numberOf(after, problem)], [soon, "2", "0"]);
    assert.doesNotMatch(after, /^deneb_sink_store_error\{/m);
  });

test("dead letters are counted by reason when they are kept", async (context) => {
  const never = new AgentError("NEVER", "storing", { retryable: false });
  const { put, scrape } = await running(context, () => never);
  const kept = 'deneb_dead_letters_kept_total{sink="k1",reason="permanent"}';

  await put();
  await put();

  const text = await until(
    scrape,
    (now) => numberOf(now, 'deneb_ledger_events_total{channel="c1",outcome="dead_lettered"}') === "2",
  );
  assert.equal(numberOf(text, kept), "2");
  assert.equal(numberOf(text, 'deneb_dead_letters_open{sink="k1",reason="permanent"}'), "2");
});

test("dead letters that find no room are not counted", async (context) => {
  const never = new AgentError("NEVER", "storing", { retryable: false });
  let tries = 0;
  const fail = () => {
    tries += 1;
    return never;
  };
  const { put, scrape } = await running(context, fail, 10);

  await put();
  await until(
    async () => tries,
    (count) => count > 0,
  );

  assert.equal(numberOf(await scrape(), 'deneb_dead_letters_kept_total{sink="k1",reason="permanent"}'), "0");
});
