import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError, batchSink, definePlugin, type Event } from "../../core/sdk/index.js";
import { markOf, type PluginSetup, pluginConformance } from "../../core/testing/index.js";

/** A store of lists; how a sink writes to it is what the tests change. */
interface ListStore {
  readonly stored: string[];
}

type Write = (store: ListStore, events: readonly Event[]) => void;

const isPoisoned = ({ headers }: Event) => headers["poisoned"] !== undefined;
const refusal = new AgentError("REFUSED", "an event that the store does not take", { retryable: false });

/** The random case of a sink that writes in this way, with this seed. */
async function randomCase(write: Write, seed: number) {
  let store: ListStore = { stored: [] };
  const sink = definePlugin({
    kind: "sink",
    type: "list",
    summary: "Keeps marks in a list.",
    stability: "beta",
    config: {},
    create: () =>
      batchSink({
        open: async () => store,
        write: async (_connection, events) => {
          write(store, events);
          return undefined;
        },
        close: async () => {},
      }),
  });
  const setup: PluginSetup = {
    seed,
    async openStore() {
      store = { stored: [] };
      return {
        config: {},
        readBack: async () => store.stored,
        poisoned: ({ headers, body }) => ({ headers: { ...headers, poisoned: "yes" }, body }),
        close: async () => {},
      };
    },
  };
  const found = (await pluginConformance(sink, setup)).find(({ name }) => name.includes("fails at random"));
  assert.ok(found !== undefined);
  return found;
}

const whole: Write = ({ stored }, events) => {
  if (events.some(isPoisoned)) throw refusal;
  stored.push(...events.map(markOf));
};

test("a sink that stores whole batches passes whatever the seed is, and the name has the seed", async () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const { name, run } = await randomCase(whole, seed);

    await run();

    assert.match(name, new RegExp(`\\(seed ${seed}\\)$`));
  }
});

const wrong: readonly { readonly says: string; readonly write: Write }[] = [
  {
    says: "stores what stands before a refused event",
    write({ stored }, events) {
      for (const event of events) {
        if (isPoisoned(event)) throw refusal;
        stored.push(markOf(event));
      }
    },
  },
  {
    says: "leaves out refused events without a word",
    write({ stored }, events) {
      stored.push(...events.filter((event) => !isPoisoned(event)).map(markOf));
    },
  },
  {
    says: "turns the order round",
    write({ stored }, events) {
      if (events.some(isPoisoned)) throw refusal;
      stored.push(...events.map(markOf).reverse());
    },
  },
];

for (const { says, write } of wrong)
  test(`a sink that ${says} fails, and its failure names the seed`, async () => {
    const { run } = await randomCase(write, 7);

    await assert.rejects(
      run(),
      /^AgentError: .*(?:stored|dead letters).*; "--seed 7", or seed in the setup, repeats it$/,
    );
  });
