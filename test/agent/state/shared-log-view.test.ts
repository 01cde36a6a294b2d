import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { sharedLogView } from "../../../core/agent/state/shared-log-view.js";
import { verifyStopped } from "../../../core/agent/verification/verify-stopped.js";
import type { AnyPlugin, ChannelPart, LogSummary } from "../../../core/sdk/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { partsOf, runningManagement } from "../../support/running-management.js";
import { settableClock } from "../../support/settable-clock.js";
import { SharedLog } from "../../support/shared-channel.js";

const part = (name: string, more: Partial<ChannelPart> = {}): ChannelPart => ({
  part: name,
  agent: "host,1",
  mine: true,
  waiting: 0,
  exact: true,
  oldest: undefined,
  appended: 5,
  passed: 5,
  lost: 0,
  ...more,
});

const summary: LogSummary = {
  engine: "memory",
  id: "l",
  group: "g",
  agents: [{ run: "host,1", since: 0, parts: 2, mine: true }],
  appended: 10,
  stored: 9,
  deadLettered: 1,
  filtered: 0,
  lost: 0,
  waiting: 0,
  unaccounted: 0,
  exact: true,
  unreachable: undefined,
  unreachableSince: undefined,
};

test("partitions without an agent come first, then those with the oldest event, and a thousand are bounded", () => {
  const parts = [
    ...Array.from({ length: 1000 }, (_, number) => part(String(number))),
    part("new", { waiting: 9, oldest: 2000 }),
    part("old", { waiting: 1, oldest: 1000 }),
    part("alone", { agent: undefined, mine: false, waiting: undefined, appended: undefined }),
  ];

  const view = sharedLogView({ parts: () => parts, log: () => summary });

  assert.deepEqual(
    view?.partitions.slice(0, 4).map(({ partition }) => partition),
    ["alone", "old", "new", "0"],
  );
  assert.equal(view?.partitions.length, 100);
  assert.equal(view?.num_partitions, 1003);
  assert.equal(view?.num_unattended, 1);
  assert.deepEqual(view?.partitions[0], { partition: "alone", mine: false, exact: true, passed: 5, lost: 0 });
});

/** An agent whose shared channel says what the test sets. */
async function agentWith(context: TestContext) {
  const said = { parts: [part("0", { waiting: 3, oldest: Date.parse("2026-01-15T09:59:00.000Z") })], log: summary };
  const shared = new SharedLog();
  const plugin: AnyPlugin = {
    ...shared.plugin,
    create: () => {
      const channel = shared.plugin.create({}, {});
      if (typeof channel !== "object" || channel === null) throw new Error("no channel");
      return Object.assign(channel, { parts: () => said.parts, log: () => said.log });
    },
  };
  const clock = settableClock();
  const running = await runningManagement(context, { channelPlugin: plugin, clock });
  return { said, clock, ...running };
}

test("statistics, metrics and the live document tell the partitions of a shared log", async (context) => {
  const { said, call, container } = await agentWith(context);
  said.parts.push(part("1", { agent: "host,2", mine: false, waiting: 7, oldest: 1 }));

  const { body } = await call("GET", "/v1/stats");
  const { text } = await call("GET", "/metrics");

  const [channel] = body.stats.channels;
  assert.deepEqual(
    channel.log.partitions.map(({ partition, mine }: { partition: string; mine: boolean }) => [partition, mine]),
    [
      ["1", false],
      ["0", true],
    ],
  );
  assert.match(text, /^deneb_log_partitions\{channel="c1",worker="mine"\} 1$/m);
  assert.match(text, /^deneb_log_partitions\{channel="c1",worker="others"\} 1$/m);
  assert.match(text, /^deneb_log_partition_waiting_events\{channel="c1",partition="0"\} 3$/m);
  assert.doesNotMatch(text, /partition="1"/);
  assert.match(text, /^deneb_log_unaccounted_events\{channel="c1"\} 0$/m);
  assert.match(JSON.stringify(partsOf(container).live.watch()()), /"num_partitions":2,"num_unattended":0/);
});

test("the partitions of one agent beyond a hundred are counted together", async (context) => {
  const { said, call } = await agentWith(context);
  said.parts.splice(0, 1, ...Array.from({ length: 1000 }, (_, number) => part(String(number), { waiting: 2 })));

  const { text } = await call("GET", "/metrics");

  assert.equal([...text.matchAll(/^deneb_log_partition_waiting_events\{/gm)].length, 101);
  assert.match(text, /^deneb_log_partition_waiting_events\{channel="c1",partition="\(other\)"\} 1800$/m);
});

test("partitions without an agent make the channel degraded once a takeover would have been over", async (context) => {
  const { said, clock, call } = await agentWith(context);
  said.parts.push(part("1", { agent: undefined, mine: false }));
  const warnings = async () => (await call("GET", "/ready")).body.warnings;

  const atOnce = await warnings();
  clock.pass(25);
  const later = await call("GET", "/ready");
  said.parts.pop();
  const after = await warnings();

  assert.equal(atOnce, undefined);
  assert.equal(later.status, 200);
  assert.match(later.body.warnings[0].reason, /^no agent works on 1 partition of the log: start another/);
  assert.equal(after, undefined);
});

test("a log that cannot be reached makes the channel degraded, with the reason", async (context) => {
  const { said, clock, call } = await agentWith(context);
  said.log = { ...summary, unreachable: "ECONNREFUSED 127.0.0.1:9092", unreachableSince: clock.now().getTime() };
  said.parts.push(part("1", { agent: undefined, mine: false }));

  const atOnce = await call("GET", "/ready");
  clock.pass(25);
  const later = await call("GET", "/ready");

  assert.equal(atOnce.body.warnings, undefined);
  assert.deepEqual(
    later.body.warnings.map(({ reason }: { reason: string }) => reason),
    ["the log cannot be reached: ECONNREFUSED 127.0.0.1:9092"],
  );
});

const books = [
  { says: "that add up", log: summary, differences: [], notes: 0 },
  {
    says: "that miss events",
    log: { ...summary, stored: 7, unaccounted: 2 },
    differences: [
      'channel "c1": 2 events of its log unaccounted for (appended 10 = stored 7 + dead-lettered 1 + filtered 0 + waiting 0 + unaccounted 2)',
    ],
    notes: 0,
  },
  { says: "that cannot be told", log: { ...summary, unaccounted: undefined }, differences: [], notes: 1 },
  {
    says: "that cannot be told, of a log that has lost events",
    log: { ...summary, unaccounted: undefined, lost: 3, uncounted: ["0", "2"] },
    differences: [
      'channel "c1": its log lost at least 3 accepted events',
      'channel "c1": records of partitions 0, 2 of its log are gone; those that were not stored are lost, and nobody knows how many; the log of the agent has an error for each partition',
    ],
    notes: 1,
  },
] as const;
for (const { says, log, differences, notes } of books)
  test(`deneb verify compares books of a shared log ${says}`, async (context) => {
    const { said, call } = await agentWith(context);
    said.log = log;

    const { body } = await call("GET", "/v1/admin/verify");

    assert.deepEqual(body.verification.differences, differences);
    const own = body.verification.notes.filter((note: string) => note.includes("is shared by agents"));
    assert.equal(own.length, notes);
  });

test("deneb verify of a stopped agent does not take part in a log that agents share", async (context) => {
  const shared = new SharedLog();
  const { container, agent } = await runningManagement(context, { channelPlugin: shared.plugin });
  await agent.stop(1000);
  const { log } = recordingLog();

  const verification = await verifyStopped(container, log);

  assert.equal(shared.channels.length, 0);
  assert.equal(verification.ok, true);
  assert.match(verification.notes.join(), /channel "c1" is shared by agents/);
});
