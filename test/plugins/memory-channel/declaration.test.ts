import assert from "node:assert/strict";
import { test } from "node:test";
import plugin from "../../../plugins/memory-channel/index.js";

const others = {
  byteCapacity: -1,
  byteCapacityBufferPercentage: 20,
  "keep-alive": 3,
  service_percentage: 100,
  fair_taking: false,
};

const cases = [
  { capacity: 100, transactionCapacity: 100, faults: [] },
  { capacity: 1000, transactionCapacity: 100, faults: [] },
  {
    capacity: 99,
    transactionCapacity: 100,
    faults: [{ property: "transactionCapacity", reason: "must not be above capacity, which is 99" }],
  },
] as const;
for (const { capacity, transactionCapacity, faults } of cases)
  test(`capacity ${capacity} with transactionCapacity ${transactionCapacity} has ${faults.length} faults`, () => {
    assert.deepEqual(plugin.check?.({ ...others, capacity, transactionCapacity }), faults);
  });
