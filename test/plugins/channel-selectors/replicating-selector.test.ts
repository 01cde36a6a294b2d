import assert from "node:assert/strict";
import { test } from "node:test";
import plugins from "../../../plugins/channel-selectors/index.js";
import { recordingLog } from "../../support/recording-log.js";

const [plugin] = plugins;
const { log } = recordingLog();
const context = { name: "selector", log, dataDir: "", run: "run", now: () => new Date(0), channels: ["a", "b", "c"] };

const cases = [
  { optional: [], required: ["a", "b", "c"] },
  { optional: ["b"], required: ["a", "c"] },
  { optional: ["a", "b", "c"], required: [] },
] as const;
for (const { optional, required } of cases)
  test(`with ${optional.length} optional channels the other ${required.length} are required`, () => {
    const selector = plugin.create({ optional }, context);

    assert.deepEqual(selector.select({ headers: {}, body: {} }), { required, optional });
  });

test("an optional channel that the source does not have is a fault", () => {
  const faults = plugin.check?.({ optional: ["b", "d"] }, ["a", "b", "c"]);

  assert.deepEqual(faults, [
    { property: "optional", reason: '"d" is not a channel of the source; its channels are: a, b, c' },
  ]);
});
