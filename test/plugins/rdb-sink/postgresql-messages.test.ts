import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Cell, Statement } from "../../../core/sql/index.js";
import { pipelineMessages } from "../../../plugins/rdb-sink/postgresql/pipeline.js";

const at = { database: "", schema: "" };

test("the messages contain every statement and cell in order, and one Sync at the end", () => {
  const cell = fc.oneof(
    fc.constant(undefined),
    fc.string({ unit: "grapheme", maxLength: 70 }),
    fc.string({ unit: "binary-ascii", maxLength: 40 }),
  );
  const run = fc.array(cell, { maxLength: 30 });
  const statement = fc.record({
    at: fc.constant(at),
    text: fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\0", "")),
    runs: fc.array(run, { maxLength: 5 }),
  });

  fc.assert(
    fc.property(fc.array(statement, { maxLength: 20 }), (statements) => {
      assert.deepEqual(decoded(pipelineMessages(statements)), expected(statements));
    }),
  );
});

test("a cell larger than a buffer and a run with the maximum of parameters are written whole", () => {
  const long = "ü𝄞 ".repeat(100_000);
  const many = Array.from({ length: 65_535 }, (_, index) => (index % 3 === 0 ? undefined : `value ${index}`));
  const statements = [{ at, text: "INSERT", runs: [["first", long, undefined, "last"], many] }];

  assert.deepEqual(decoded(pipelineMessages(statements)), expected(statements));
});

type Message =
  | readonly ["parse", string]
  | readonly ["bind", readonly Cell[]]
  | readonly ["execute"]
  | readonly ["sync"];

function expected(statements: readonly Statement[]): readonly Message[] {
  const messages = statements.flatMap(({ text, runs }): readonly Message[] => [
    ["parse", text],
    ...runs.flatMap((run): readonly Message[] => [["bind", run], ["execute"]]),
  ]);
  return [...messages, ["sync"]];
}

/** Reads messages by https://www.postgresql.org/docs/current/protocol-message-formats.html */
function decoded(pieces: readonly Buffer[]): readonly Message[] {
  const bytes = Buffer.concat(pieces);
  const messages: Message[] = [];
  for (let start = 0; start < bytes.length; start += 1 + bytes.readInt32BE(start + 1)) {
    const body = bytes.subarray(start + 5, start + 1 + bytes.readInt32BE(start + 1));
    messages.push(decodedOne(String.fromCharCode(bytes[start] ?? 0), body));
  }
  return messages;
}

function decodedOne(type: string, body: Buffer): Message {
  if (type === "P") {
    const end = body.length - 3;
    assert.deepEqual([body[0], body[end], body.readInt16BE(end + 1)], [0, 0, 0]);
    return ["parse", body.toString("utf8", 1, end)];
  }
  if (type === "B") return ["bind", cellsOf(body)];
  if (type === "E") assert.deepEqual([...body], [0, 0, 0, 0, 0]);
  else assert.deepEqual([type, body.length], ["S", 0]);
  return type === "E" ? ["execute"] : ["sync"];
}

function cellsOf(body: Buffer): readonly Cell[] {
  // No names and no format codes: everything is text.
  assert.equal(body.readInt32BE(0), 0);
  const cells: Cell[] = [];
  let offset = 6;
  for (let left = body.readUInt16BE(4); left > 0; left -= 1) {
    const length = body.readInt32BE(offset);
    offset += 4;
    cells.push(length === -1 ? undefined : body.toString("utf8", offset, offset + length));
    offset += Math.max(0, length);
  }
  assert.deepEqual([body.readInt16BE(offset), offset + 2], [0, body.length]);
  return cells;
}
