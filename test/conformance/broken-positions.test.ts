import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  batchSink,
  definePlugin,
  type Event,
  type KeptPosition,
  letterHeader,
  reasonOf,
} from "../../core/sdk/index.js";
import { markOf, pluginConformance } from "../../core/testing/index.js";

interface Flaws {
  /** Where the position of a channel is kept. */
  readonly keyOf?: (channel: string) => string;
  /** Does not look at what is kept before it writes. */
  readonly isBlind?: true;
  /** Looks at it some time before it writes. */
  readonly looksEarly?: true;
  /** Does not look where nothing was kept before. */
  readonly trustsFirst?: true;
  /** Moves the position in a step of its own. */
  readonly moves?: "before" | "after";
  /** Does not know the dead letters that it has stored. */
  readonly forgetsLetters?: true;
  /** Stores nothing over another position, and does not say so. */
  readonly isSilent?: true;
  /** What of a batch is stored. */
  readonly stores?: (events: readonly Event[]) => readonly Event[];
}

/** The first failure of the suites over a sink that keeps marks and positions in memory; empty without one. */
async function failureOf({ keyOf = (channel) => channel, stores, ...flaws }: Flaws): Promise<string> {
  let marks: string[] = [];
  let kept = new Map<string, string>();
  let letters = new Set<string>();
  const isNew = ({ headers }: Event) => {
    const letter = headers[letterHeader];
    if (letter === undefined || flaws.forgetsLetters === true) return true;
    const isKnown = letters.has(letter);
    letters.add(letter);
    return !isKnown;
  };
  const stepsOf = (events: readonly Event[], position: KeptPosition | undefined) => [
    () => marks.push(...(stores?.(events) ?? events).filter(isNew).map(markOf)),
    () => position !== undefined && kept.set(keyOf(position.channel), position.text),
  ];
  const definition = definePlugin({
    apiVersion: 1,
    kind: "sink",
    type: "broken",
    summary: "Keeps positions.",
    stability: "beta",
    config: {},
    create: (_, { run }) =>
      batchSink({
        open: async () => kept,
        async write(_connection, events, signal, { position }) {
          const keptText = () => kept.get(keyOf(position?.channel ?? ""));
          const early = keptText();
          await step(signal);
          if (isRefused(flaws, position, flaws.looksEarly === true ? early : keptText())) {
            if (flaws.isSilent === true) return { requestBytes: 0, responseBytes: 0 };
            throw position?.conflict();
          }
          await inSteps(flaws, signal, stepsOf(events, position));
          return { requestBytes: 0, responseBytes: 0 };
        },
        close: async () => {},
        positions: { owner: run, stored: async () => [...kept.values()] },
      }),
  });
  const openStore = async () => {
    marks = [];
    kept = new Map();
    letters = new Set();
    return { config: {}, readBack: async () => [...marks], close: async () => {} };
  };
  for (const { name, run } of await pluginConformance(definition, { openStore, seed: 1 }))
    try {
      await run();
    } catch (error) {
      return `${name}: ${reasonOf(error)}`;
    }
  return "";
}

/** Whether something else was stored since the sink looked, as far as the flawed sink can tell. */
function isRefused(flaws: Flaws, position: KeptPosition | undefined, kept: string | undefined): boolean {
  if (position === undefined || kept === position.before) return false;
  if (flaws.trustsFirst === true && position.before === undefined) return false;
  return flaws.isBlind !== true;
}

async function inSteps({ moves }: Flaws, signal: AbortSignal, steps: readonly (() => unknown)[]): Promise<void> {
  for (const one of moves === "before" ? steps.toReversed() : steps) {
    one();
    if (moves !== undefined) await step(signal);
  }
}

async function step(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}

test("a sink that keeps positions as it should passes every case", async () => {
  assert.equal(await failureOf({}), "");
});

const replaced = "a sink whose position was moved by the one that replaced it stores what is left, each event once";

const atAnyMoment =
  "a batch whose write is aborted at any moment is stored once when it is written again, its position with it";
const atOnce = "two sinks that write the same batch at the same time store it once";
const replayed = "a dead letter that is replayed, and comes once more under another position, is stored once";

for (const { says, flaws, fails } of [
  {
    says: "moves the position before it stores",
    flaws: { moves: "before" },
    fails: `${atAnyMoment}: not stored, although`,
  },
  {
    says: "moves the position after it has stored",
    flaws: { moves: "after" },
    fails: `${atAnyMoment}: stored more than`,
  },
  {
    says: "does not know which dead letters it has stored",
    flaws: { forgetsLetters: true },
    fails: `${replayed}: stored more than once: "a1"`,
  },
  {
    says: "compares positions before its transaction",
    flaws: { looksEarly: true },
    fails: `${atOnce}: stored more than once: "a"`,
  },
  {
    says: "does not compare the first position",
    flaws: { trustsFirst: true },
    fails: `${atOnce}: stored more than once: "a"`,
  },
  { says: "does not compare positions", flaws: { isBlind: true }, fails: `${replaced}: stored more than once: "a2"` },
  {
    says: "takes a batch over another position as stored",
    flaws: { isSilent: true },
    fails: `${replaced}: not stored, although the sink said so: "a3"`,
  },
  {
    says: "keeps one position for all channels",
    flaws: { keyOf: () => "position" },
    fails: "the positions of several channels are kept beside each other: storing with the position of channel",
  },
  {
    says: "stores the first hundred events of a batch",
    flaws: { stores: (events) => events.slice(0, 100) },
    fails: "a batch of 1,000 events, or of the most that the sink asks for, is stored as a whole: not stored",
  },
  {
    says: "leaves out events that are like others",
    flaws: { stores: (events) => [...new Map(events.map((event) => [markOf(event), event])).values()] },
    fails: "two events with the same content are both stored: of three events with the same content 2 are stored",
  },
  {
    says: "sorts a batch",
    flaws: { stores: (events) => events.toSorted((one, other) => (markOf(one) < markOf(other) ? -1 : 1)) },
    fails: "every event of a batch is stored, for several entities and services, in the order of each entity: ",
  },
] satisfies readonly { says: string; flaws: Flaws; fails: string }[])
  test(`a sink that ${says} fails a case that says so`, async () => {
    const failed = await failureOf(flaws);

    assert.ok(failed.startsWith(fails), failed);
  });
