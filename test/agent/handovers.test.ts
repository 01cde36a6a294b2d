import assert from "node:assert/strict";
import { test } from "node:test";
import { Handovers } from "../../core/agent/handovers.js";
import { definePlugin, type Handover, type Source } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";

const done = async () => undefined;
const plain: Source = { start: done, stop: done };
const pluginOf = (type: string) =>
  definePlugin({ kind: "source", type, summary: "s", stability: "beta", config: {}, create: () => plain });
const plugins = { a: pluginOf("a"), b: pluginOf("b") };
const patient = new AbortController().signal;

class Left implements Handover {
  closed = 0;

  async close(): Promise<void> {
    this.closed += 1;
  }
}

function owner(name: string, source: Partial<Source>, plugin: keyof typeof plugins = "a") {
  return { name, source: { ...plain, ...source }, node: { definition: plugins[plugin] } };
}

/** A source that takes what it is offered, or what the test says. */
function heir(name: string, wants: (handover: Handover) => boolean = () => true, plugin: keyof typeof plugins = "a") {
  const offered: Handover[] = [];
  const takeOver = (handover: Handover) => {
    offered.push(handover);
    return wants(handover);
  };
  return { ...owner(name, { takeOver }, plugin), offered };
}

function handovers() {
  const { log, lines } = recordingLog();
  return { all: new Handovers(log), lines };
}

test("a source hands over only where another one of its plugin can take over", async () => {
  const asked: string[] = [];
  const handOver = async () => {
    asked.push("asked");
    return undefined;
  };
  const { all } = handovers();

  await all.from(owner("s", { handOver }), [owner("s", {}), heir("s", () => true, "b")], patient);
  await all.from(owner("s", {}), [heir("s")], patient);

  assert.deepEqual(asked, []);
});

test("that of the same name is offered first, then those of other names; nothing is offered twice once it was started with", async () => {
  const { all } = handovers();
  const [of1, of2] = [new Left(), new Left()];
  const heirs = [heir("s1", (one) => one === of2), heir("s2")];
  await all.from(owner("s1", { handOver: async () => of1 }), heirs, patient);
  await all.from(owner("s2", { handOver: async () => of2 }), heirs, patient);

  for (const next of heirs) {
    all.offer(next);
    all.started(next);
  }
  await all.close();

  assert.deepEqual(
    heirs.map(({ offered }) => offered),
    [[of1, of2], [of1]],
  );
  assert.deepEqual([of1.closed, of2.closed], [0, 0]);
});

test("what a source took that did not start is offered again, and closed once when nobody takes it", async () => {
  const { all } = handovers();
  const left = new Left();
  const [failing, before] = [heir("s"), heir("s", () => false)];
  await all.from(owner("s", { handOver: async () => left }), [failing], patient);

  all.offer(failing);
  all.offer(before);
  all.started(before);
  await all.close();
  await all.close();

  assert.deepEqual(before.offered, [left]);
  assert.equal(left.closed, 1);
});

test("a source that fails to hand over is an error in the log and leaves nothing", async () => {
  const { all, lines } = handovers();
  const next = heir("s");

  await all.from(owner("s", { handOver: () => Promise.reject(new Error("broken")) }), [next], patient);
  all.offer(next);

  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [["error", "source did not hand over"]],
  );
  assert.deepEqual(next.offered, []);
});

test("what a source hands over long after the grace period is closed", async () => {
  const { all } = handovers();
  let settle: (handover: Handover) => void = () => undefined;
  const handOver = () =>
    new Promise<Handover>((resolve) => {
      settle = resolve;
    });
  const next = heir("s");

  await all.from(owner("s", { handOver }), [next], AbortSignal.abort());
  const gone = new Promise<void>((resolve) => settle({ close: async () => resolve() }));
  all.offer(next);

  await gone;
  assert.deepEqual(next.offered, []);
});

test("one that cannot be closed keeps the others from nothing", async () => {
  const { all, lines } = handovers();
  const good = new Left();
  const bad = { close: () => Promise.reject(new Error("broken")) };
  for (const handover of [bad, good])
    await all.from(owner("s", { handOver: async () => handover }), [heir("s")], patient);

  await all.close();

  assert.equal(good.closed, 1);
  assert.equal(lines[0]?.level, "error");
});
