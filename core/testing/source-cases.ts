import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { AnyPlugin } from "../sdk/index.js";
import { asKind, inRoom, type Room } from "./component-fixture.js";
import { assertEmitted, failure } from "./expectations.js";
import { called } from "./plugin-calls.js";
import type { ConformanceCase, ConformanceInlet, PluginSetup } from "./plugin-setup.js";

/** What a source does with what is sent to it; none when the setup cannot send. */
export function sourceCases(definition: AnyPlugin, { openInlet }: PluginSetup): readonly ConformanceCase[] {
  if (openInlet === undefined) return [];
  return inletCases.map(({ name, run }) => ({
    name,
    run: () =>
      inRoom(async (room) => {
        const inlet = await openInlet(room.folder);
        const bench = new SourceBench(definition, inlet, room);
        try {
          await run(bench);
        } finally {
          await bench.end();
        }
      }),
  }));
}

const MOST_MILLIS = 10_000;
const SOME_MILLIS = 1000;
const PAUSE_MILLIS = 5;
/** What is sent while the channels are full, and how much of it may wait for them. */
const SENT_WHILE_FULL = 300;
const MOST_WAITING = 100;
const SOME_SENT = 3;

class SourceBench {
  readonly #definition: AnyPlugin;
  readonly #inlet: ConformanceInlet;
  readonly #room: Room;
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(definition: AnyPlugin, inlet: ConformanceInlet, room: Room) {
    this.#definition = definition;
    this.#inlet = inlet;
    this.#room = room;
  }

  /** Starts a source; what stops it is called at the end, too. */
  async start(): Promise<() => Promise<void>> {
    const source = asKind("source", this.#room.create(this.#definition, this.#inlet.config), ["start", "stop"]);
    const stop = () => called("stop", () => source.stop(new AbortController().signal));
    this.#stops.push(stop);
    await called("start", () => source.start());
    return stop;
  }

  async send(text: string): Promise<boolean> {
    return await this.#inlet.send(text);
  }

  /** From now on emits wait, until what it returns is called. */
  hold(): () => void {
    return this.#room.hold();
  }

  /** Until an emit waits for room. */
  async untilWaits(): Promise<void> {
    const end = performance.now() + MOST_MILLIS;
    while (this.#room.waiting === 0 && performance.now() < end) await setTimeout(PAUSE_MILLIS);
    if (this.#room.waiting === 0) throw failure("something was sent, and the source calls neither receive nor emit");
  }

  /** Looks for a while whether more emits wait. */
  async moreWait(most: number): Promise<boolean> {
    const end = performance.now() + SOME_MILLIS;
    while (this.#room.waiting <= most && performance.now() < end) await setTimeout(PAUSE_MILLIS);
    return this.#room.waiting > most;
  }

  /** How many times the channels have no room. */
  refuse(times: number): void {
    this.#room.refuse(times);
  }

  get emitted(): readonly unknown[] {
    return this.#room.emitted.map(({ body }) => body);
  }

  async untilEmitted(text: string): Promise<void> {
    const end = performance.now() + MOST_MILLIS;
    while (!this.emitted.includes(text) && performance.now() < end) await setTimeout(PAUSE_MILLIS);
    if (!this.emitted.includes(text)) {
      const seconds = MOST_MILLIS / 1000;
      throw failure(
        `"${text}" was sent and not emitted within ${seconds} s; emitted are ${this.emitted.length} others`,
      );
    }
  }

  async end(): Promise<void> {
    for (const stop of this.#stops) await stop();
    await this.#inlet.close();
  }
}

interface SourceCase {
  readonly name: string;
  run(bench: SourceBench): Promise<void>;
}

export const inletCases: readonly SourceCase[] = [
  {
    name: "what is sent one after the other is emitted once and in that order",
    async run(bench) {
      await bench.start();

      for (const text of ["a", "b", "c"]) assert.equal(await bench.send(text), true);
      await bench.untilEmitted("c");

      assertEmitted(bench.emitted, ["a", "b", "c"]);
    },
  },
  {
    name: "what is emitted are events with texts as headers and a body that is JSON",
    async run(bench) {
      await bench.start();

      await bench.send("a");
      await bench.untilEmitted("a");
    },
  },
  {
    name: "what the channels have no room for is refused or emitted again, and not lost",
    async run(bench) {
      await bench.start();
      bench.refuse(2);

      for (let tries = 1; !(await bench.send("a")); tries++) assert.ok(tries < 5, "it is refused again and again");
      await bench.untilEmitted("a");
      assert.equal(await bench.send("b"), true);
      await bench.untilEmitted("b");

      assertEmitted(bench.emitted, ["a", "b"]);
    },
  },
  {
    name: "after stop nothing is emitted, and what a broker keeps for a stopped source reaches the next one",
    async run(bench) {
      const stop = await bench.start();
      await bench.send("a");
      await bench.untilEmitted("a");
      await stop();

      const taken = await bench.send("b").catch(() => false);
      assertEmitted(bench.emitted, ["a"]);
      await bench.start();
      assert.equal(await bench.send("c"), true);
      await bench.untilEmitted("c");

      assertEmitted(bench.emitted, taken ? ["a", "b", "c"] : ["a", "c"]);
    },
  },
  {
    name: "while the channels take nothing few emits wait, and what was sent meanwhile is emitted in order",
    async run(bench) {
      await bench.start();
      const release = bench.hold();
      const { texts, last } = await sentWhileFull(bench);

      const ignores = texts.length > MOST_WAITING && (await bench.moreWait(MOST_WAITING));
      release();

      if (ignores) throw failure(ignoresRoom);
      assert.equal(await last, true);
      for (const text of texts) await bench.untilEmitted(text);
      assertEmitted(bench.emitted, texts);
    },
  },
  {
    name: "what is refused while it waits for room is not overtaken by what was sent after it",
    async run(bench) {
      await bench.start();
      const release = bench.hold();
      const { texts, last } = await sentWhileFull(bench, SOME_SENT);
      await bench.untilWaits();

      bench.refuse(1);
      release();

      const taken = (await last) ? texts : texts.slice(0, -1);
      for (const text of taken) await bench.untilEmitted(text);
      assertEmitted(bench.emitted, taken);
    },
  },
  {
    name: "what waits for room when a source stops is refused, or reaches the next one",
    async run(bench) {
      const stop = await bench.start();
      const release = bench.hold();
      const sent = bench.send("a").catch(() => false);
      await bench.untilWaits();

      const stopped = stop();
      bench.refuse(Number.POSITIVE_INFINITY);
      release();
      await stopped;
      const taken = await sent;
      bench.refuse(0);
      await bench.start();
      assert.equal(await bench.send("b"), true);
      await bench.untilEmitted("b");

      assertEmitted(bench.emitted, taken ? ["a", "b"] : ["b"]);
    },
  },
];

const ignoresRoom =
  `while the channels take nothing more than ${MOST_WAITING} emits wait, of messages whose sender was told that they are sent; ` +
  "await each receive and each emit before the next one: what waits is in memory alone, and lost when the process ends";

/** Sends until a sender has to wait, as one does that is answered when its message is taken. */
async function sentWhileFull(
  bench: SourceBench,
  most = SENT_WHILE_FULL,
): Promise<{ texts: readonly string[]; last: Promise<boolean> }> {
  const texts: string[] = [];
  let last = Promise.resolve(true);
  while (texts.length < most) {
    const text = `t${texts.length}`;
    texts.push(text);
    last = bench.send(text);
    last.catch(() => undefined);
    const waits = await Promise.race([last.then(() => false), setTimeout(SOME_MILLIS, true, { ref: false })]);
    if (waits) break;
  }
  return { texts, last };
}
