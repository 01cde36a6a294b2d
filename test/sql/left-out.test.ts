import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch, Event } from "../../core/sdk/index.js";
import { LeftOut } from "../../core/sql/features/positions/left-out.js";
import type { CoveredRows } from "../../core/sql/features/positions/shared-positions.js";
import { recordingLog } from "../support/recording-log.js";

const event: Event = { headers: { "deneb-dead-letter": "l.0.1-a" }, body: "a" };
const position = { text: "l/0:1", shared: true, coveredBy: () => [] };
const batch: Batch = { events: [event], position };
const name = { database: "", schema: "s", table: "t" };
const cells = { columns: [], cells: [], values: () => [], native: [], attributes: [] };
const row = (movedBy?: string): CoveredRows => ({
  name,
  placed: [{ ...cells, name, subject: "a", event, removed: false }],
  movedBy,
});

test("a replayed dead letter whose commit was not answered is stored by this agent, although no position says by whom", () => {
  const leftOut = new LeftOut({ run: "own", log: recordingLog().log, now: () => new Date(0) });

  leftOut.doubt(batch);
  leftOut.note(batch, [row("own"), row()], []);

  assert.deepEqual(leftOut.of(batch), []);
});

test("a replayed dead letter that this agent has not tried to store was stored by another replay", () => {
  const leftOut = new LeftOut({ run: "own", log: recordingLog().log, now: () => new Date(0) });

  leftOut.note(batch, [row()], []);

  assert.deepEqual(leftOut.of(batch), [event]);
});
