import assert from "node:assert/strict";
import { test } from "node:test";
import { heapUsed } from "../../support/heap-used.js";
import { ldOf } from "./from-text.js";

test("ids, types and names that are remembered do not keep the texts they came with", () => {
  const text = (number: number) =>
    JSON.stringify({
      data: [
        {
          id: `urn:ngsi-ld:Device:${number}`,
          type: `DeviceOfType${number}`,
          [`attributeNumber${number}`]: { type: "Property", value: "x".repeat(50_000) },
        },
      ],
    });
  const before = heapUsed();

  const remembered = Array.from({ length: 2000 }, (_, number) => {
    const one = ldOf(text(number)).entities[0];
    return [one?.id, one?.type, one?.attributes[0]?.name];
  });

  const kept = heapUsed() - before;
  assert.ok(kept < 10_000_000, `${kept} bytes kept`);
  assert.equal(remembered.at(-1)?.[1], "DeviceOfType1999");
});
