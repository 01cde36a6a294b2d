import assert from "node:assert/strict";
import { test } from "node:test";
import { idleChannels } from "../../../core/configuration/topology/declared-components.js";

const COUNT = 1000;

test("the channels without a sink are found among many, and each link is looked at a few times, however many there are", () => {
  const names = Array.from({ length: COUNT }, (_, number) => `c${number}`);
  const blocks = names.map((name) => ({ name, key: `a.channels.${name}`, line: 1, settings: new Map() }));
  let looks = 0;
  const links = names.map((name) => ({
    location: { key: name, line: 1 },
    get channels() {
      looks += 1;
      return [name];
    },
  }));

  const faults = idleChannels({ names, blocks, faults: [] }, { written: links, read: links.slice(1) });

  assert.ok(looks <= 10 * COUNT, `${looks} looks`);
  assert.deepEqual(
    faults.map(({ key }) => key),
    ["a.channels.c0"],
  );
});
