import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartitionedTable, TimeRange } from "../../../core/sql/index.js";
import { mysqlPartitions } from "../../../plugins/rdb-sink/mysql/partitions.js";

const at = { database: "", schema: "s" } as const;

/** A table with a filler from the first of May to the first of June, then the first of June, up to the second. */
const table: PartitionedTable = {
  name: { ...at, table: "t" },
  time: { name: "recvtime", kind: "text" },
  partitions: [
    { name: { ...at, table: "before_2026_06_01" }, from: "2026-05-01", to: "2026-06-01", isFiller: true },
    { name: { ...at, table: "p2026_06_01" }, from: "2026-06-01", to: "2026-06-02", isFiller: false },
  ],
};

const day = (from: string, to: string): TimeRange => ({ from, to });

function texts(...ranges: readonly TimeRange[]): readonly string[] {
  return mysqlPartitions.add(table, ranges, 1).map(({ text }) => text);
}

test("all days behind the last partition are added by one statement, in order, with fillers for the gaps", () => {
  assert.deepEqual(texts(day("2026-06-05", "2026-06-06"), day("2026-06-02", "2026-06-03")), [
    "ALTER TABLE `s`.`t` ADD PARTITION (PARTITION `p2026_06_02` VALUES LESS THAN ('2026-06-03'), " +
      "PARTITION `before_2026_06_05` VALUES LESS THAN ('2026-06-05'), " +
      "PARTITION `p2026_06_05` VALUES LESS THAN ('2026-06-06'))",
  ]);
});

test("all days in one filler split it by one statement, and what is left of it stays a filler", () => {
  assert.deepEqual(texts(day("2026-05-31", "2026-06-01"), day("2026-05-01", "2026-05-02")), [
    "ALTER TABLE `s`.`t` REORGANIZE PARTITION `before_2026_06_01` INTO (" +
      "PARTITION `p2026_05_01` VALUES LESS THAN ('2026-05-02'), " +
      "PARTITION `before_2026_05_31` VALUES LESS THAN ('2026-05-31'), " +
      "PARTITION `p2026_05_31` VALUES LESS THAN ('2026-06-01'))",
  ]);
  assert.deepEqual(texts(day("2026-05-10", "2026-05-11")), [
    "ALTER TABLE `s`.`t` REORGANIZE PARTITION `before_2026_06_01` INTO (" +
      "PARTITION `before_2026_05_10` VALUES LESS THAN ('2026-05-10'), " +
      "PARTITION `p2026_05_10` VALUES LESS THAN ('2026-05-11'), " +
      "PARTITION `before_2026_06_01` VALUES LESS THAN ('2026-06-01'))",
  ]);
});

test("a day that a partition takes already needs no statement", () => {
  assert.deepEqual(texts(day("2026-06-01", "2026-06-02")), []);
});
