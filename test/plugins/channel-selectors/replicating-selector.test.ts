import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf } from "../../../core/sdk/index.js";
import plugin from "../../../plugins/channel-selectors/index.js";
import { recordingLog } from "../../support/recording-log.js";

const { log } = recordingLog();
const context = { name: "selector", log, dataDir: "", now: () => new Date(0), channels: ["a", "b", "c"] };

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

test("an optional channel that the source does not have fails the creation with its name", () => {
  assert.throws(
    () => plugin.create({ optional: ["b", "d"] }, context),
    (error: Error) => {
      assert.equal(codeOf(error), "UNKNOWN_CHANNEL");
      assert.match(error.message, /"optional" names "d".*\("a", "b", "c"\)$/);
      return true;
    },
  );
});
