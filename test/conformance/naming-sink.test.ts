import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError, type Batch, definePlugin, type Event } from "../../core/sdk/index.js";
import { markOf, pluginConformance } from "../../core/testing/index.js";

const isBad = (event: Event) => "bad" in event.headers;

/** A sink in memory that keeps the good events of a batch and names the others, or does what `persist` does instead. */
async function casesOf(names: (events: readonly Event[]) => readonly Event[], seed?: number) {
  const stored: string[] = [];
  const persist = async ({ events }: Batch) => {
    stored.push(...events.filter((event) => !isBad(event)).map(markOf));
    if (!events.some(isBad)) return { requestBytes: 0, responseBytes: 0 };
    throw new AgentError("NOT_ALL", "storing", { retryable: false, events: names(events) });
  };
  const definition = definePlugin({
    apiVersion: 1,
    kind: "sink",
    type: "naming",
    summary: "Names the events that failed.",
    stability: "beta",
    config: {},
    create: () => ({ start: async () => {}, stop: async () => {}, persist }),
  });
  const openStore = async () => {
    stored.length = 0;
    return {
      config: {},
      readBack: async () => stored,
      poisoned: ({ headers, body }: Event): Event => ({ headers: { ...headers, bad: "" }, body }),
      close: async () => {},
    };
  };
  return await pluginConformance(definition, { openStore, ...(seed === undefined ? {} : { seed }) });
}

async function poisonCases(names: (events: readonly Event[]) => readonly Event[]) {
  return (await casesOf(names)).filter(({ name }) => name.includes("never go in"));
}

test("a sink that names the events that failed passes the random case whatever the seed is", async () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const found = (await casesOf((events) => events.filter(isBad), seed)).find(({ name }) =>
      name.includes("at random"),
    );

    await found?.run();
    assert.ok(found !== undefined);
  }
});

test("a sink that stores the good events and names the others passes", async () => {
  const cases = await poisonCases((events) => events.filter(isBad));

  for (const { run } of cases) await run();

  assert.equal(cases.length, 4);
});

test("a sink that names events which it stored does not", async () => {
  const [first] = await poisonCases((events) => events);

  await assert.rejects(async () => await first?.run());
});
