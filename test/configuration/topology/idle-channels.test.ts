import assert from "node:assert/strict";
import { test } from "node:test";
import { idleChannels } from "../../../core/configuration/topology/declared-components.js";

const COUNT = 5000;

test("the channels without a sink are found among thousands within seconds", () => {
  const names = Array.from({ length: COUNT }, (_, number) => `c${number}`);
  const blocks = names.map((name) => ({ name, key: `a.channels.${name}`, line: 1, settings: new Map() }));
  const links = names.map((name) => ({ location: { key: name, line: 1 }, channels: [name] }));
  const begun = performance.now();

  const faults = idleChannels({ names, blocks, faults: [] }, { written: links, read: links.slice(1) });

  assert.ok(performance.now() - begun < 5000);
  assert.deepEqual(
    faults.map(({ key }) => key),
    ["a.channels.c0"],
  );
});
