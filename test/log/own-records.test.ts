import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnRecords } from "../../core/log/own-records.js";

const record = (offset: number) => ({ offset, bytes: 3, events: [], at: 0, writer: "w", before: 0 });
const bytes = (text: string) => Buffer.from(text);

test("a record is found at its offset, if the log has the same bytes there", () => {
  const own = new OwnRecords();
  own.keep(record(7), bytes("abc"));

  assert.deepEqual(own.found(7, bytes("abc")), record(7));
  assert.equal(own.found(7, bytes("abd")), undefined);
  assert.equal(own.found(7, bytes("ab")), undefined);
  assert.equal(own.found(8, bytes("abc")), undefined);
});

test("records before what was read are forgotten with their bytes", () => {
  const own = new OwnRecords();
  for (const offset of [3, 5, 7]) own.keep(record(offset), bytes("abc"));

  own.forget(7);

  assert.equal(own.bytes, 3);
  assert.equal(own.found(5, bytes("abc")), undefined);
  assert.deepEqual(own.found(7, bytes("abc")), record(7));
});

test("of many small records the first ones are kept", () => {
  const own = new OwnRecords();
  for (let offset = 0; offset < 2000; offset += 1) own.keep(record(offset), bytes("a"));

  assert.equal(own.bytes, 1000);
  assert.deepEqual(own.found(999, bytes("a")), record(999));
  assert.equal(own.found(1000, bytes("a")), undefined);
});
