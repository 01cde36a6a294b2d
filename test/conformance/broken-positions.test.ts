import assert from "node:assert/strict";
import { test } from "node:test";
import { batchSink, definePlugin, type Event, reasonOf } from "../../core/sdk/index.js";
import { markOf, pluginConformance } from "../../core/testing/index.js";

interface Flaws {
  /** Where the position of a channel is kept. */
  readonly keyOf?: (channel: string) => string;
  /** Does not look at what is kept before it writes. */
  readonly isBlind?: true;
  /** Stores nothing over another position, and does not say so. */
  readonly isSilent?: true;
  /** What of a batch is stored. */
  readonly stores?: (events: readonly Event[]) => readonly Event[];
}

/** The first failure of the suites over a sink that keeps marks and positions in memory; empty without one. */
async function failureOf({ keyOf = (channel) => channel, isBlind, isSilent, stores }: Flaws): Promise<string> {
  let marks: string[] = [];
  let kept = new Map<string, string>();
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
        async write(_connection, events, _signal, { position }) {
          const isOther = position !== undefined && kept.get(keyOf(position.channel)) !== position.before;
          if (isOther && isBlind !== true) {
            if (isSilent === true) return { requestBytes: 0, responseBytes: 0 };
            throw position.conflict();
          }
          marks.push(...(stores?.(events) ?? events).map(markOf));
          if (position !== undefined) kept.set(keyOf(position.channel), position.text);
          return { requestBytes: 0, responseBytes: 0 };
        },
        close: async () => {},
        positions: { owner: run, stored: async () => [...kept.values()] },
      }),
  });
  const openStore = async () => {
    marks = [];
    kept = new Map();
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

test("a sink that keeps positions as it should passes every case", async () => {
  assert.equal(await failureOf({}), "");
});

const replaced = "a sink whose position was moved by the one that replaced it stores what is left, each event once";

for (const { says, flaws, fails } of [
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
