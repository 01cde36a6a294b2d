import assert from "node:assert/strict";
import { test } from "node:test";
import { setupOf } from "../../core/cli/plugin-setup-of.js";
import { codeOf } from "../../core/sdk/index.js";

const read = (setup: unknown) => {
  const notes: string[] = [];
  return { setup: setupOf(setup, "conformance.js", { err: (line) => void notes.push(line) }), notes };
};

const faulty: readonly (readonly [setup: unknown, says: RegExp])[] = [
  [undefined, /"conformance.js": it must export "setup"/],
  [{ opnStore: () => undefined }, /"setup" has no member "opnStore"; did you mean "openStore"\?/],
  [{ channel: { afterCrush: "copied" } }, /"setup.channel" has no member "afterCrush"; did you mean "afterCrash"\?/],
  [{ caseSeconds: "5" }, /"setup.caseSeconds" must be of type number/],
  [{ channel: { abandon: true } }, /"setup.channel.abandon" must be of type function/],
];

for (const [setup, says] of faulty)
  test(`a setup of a plugin is refused by plugin test: ${says.source}`, () => {
    assert.throws(
      () => read(setup),
      (error: Error) => codeOf(error) === "NO_SETUP" && says.test(error.message),
    );
  });

test("a member of a setup that resembles none is named as one without effect", () => {
  const setup = { config: () => ({}), seed: undefined, myServer: "x", channel: { twoAgents: "shared" } };

  const { setup: taken, notes } = read(setup);

  assert.equal(taken, setup);
  assert.deepEqual(notes, ['"conformance.js": "setup" has no member "myServer": it has no effect']);
});
