import assert from "node:assert/strict";
import { test } from "node:test";
import { type Settings, sectionOf } from "../../../core/configuration/file/settings.js";
import { growthFault } from "../../growth/growth.js";

const linesOf = (size: number): Settings =>
  new Map(
    Array.from({ length: size / 10 }, (_, index) => {
      const path = `s.quota.services.s${index}`;
      return [path, { key: `a.sources.${path}`, value: "5", line: index + 1 }];
    }),
  );

test("much more of the lines of one component takes no more time than their number says", async () => {
  assert.equal(await growthFault(linesOf, (below) => void sectionOf("a.sources", undefined, below), 40_000), undefined);
});
