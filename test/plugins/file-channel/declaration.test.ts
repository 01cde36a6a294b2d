import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFile, checkSpillable } from "../../../plugins/file-channel/config.js";
import { usual } from "./channel-folder.js";

const cases = [
  { capacity: 100, transactionCapacity: 100, reasons: [] },
  { capacity: 99, transactionCapacity: 100, reasons: ["must not be above capacity, which is 99"] },
] as const;
for (const { capacity, transactionCapacity, reasons } of cases)
  test(`capacity ${capacity} with transactionCapacity ${transactionCapacity} has ${reasons.length} faults`, () => {
    const faults = checkFile({ ...usual, capacity, transactionCapacity });

    assert.deepEqual(
      faults,
      reasons.map((reason) => ({ property: "transactionCapacity", reason })),
    );
  });

test("the transactions of a spillable channel must fit on disk", () => {
  const faults = checkSpillable({ ...usual, overflowCapacity: 5, transactionCapacity: 6 });

  assert.deepEqual(faults, [
    { property: "transactionCapacity", reason: "must not be above overflowCapacity, which is 5" },
  ]);
});
