import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Cell, Statement } from "../../../core/sql/index.js";
import { pipelineMessages, plainly, type Ways } from "../../../plugins/rdb-sink/postgresql/messages.js";

const copying: Ways = { ...plainly, copyOf: ({ text }) => (text === "COPY" ? text : undefined) };
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

test("the rows of a COPY come between it and the next statement, with what has a meaning there escaped", () => {
  const cell = fc.oneof(
    fc.constant(undefined),
    fc.constantFrom("\\N", "\\.", "", "\t", "\r\n", "\\", "a\\b\tc\nd\re", "\b\f\v"),
    fc.string({ unit: "grapheme", maxLength: 70 }),
    fc.string({ unit: "binary-ascii", maxLength: 40 }),
  );
  const table = fc.integer({ min: 1, max: 30 }).chain((columns) =>
    fc.record({
      at: fc.constant(at),
      text: fc.constant("COPY"),
      runs: fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 50 }),
    }),
  );

  fc.assert(
    fc.property(fc.array(table, { maxLength: 5 }), (copies) => {
      const statements = [{ at, text: "BEGIN", runs: [[]] }, ...copies];
      const messages = decoded(pipelineMessages(statements, copying));

      assert.deepEqual(withRows(messages), [
        ...expected([{ at, text: "BEGIN", runs: [[]] }]).slice(0, -1),
        ...copies.flatMap(({ text, runs }) => [["parse", text], ["bind", []], ["execute"], ["rows", runs], ["done"]]),
        ["sync"],
      ]);
    }),
  );
});

test("a statement with a name is sent with it once, and then by its name alone", () => {
  const [first, again, plain] = ["SELECT 1", "SELECT 1", "SELECT 2"].map((text) => ({
    at,
    text,
    runs: [["a"], ["b"]],
  }));
  const statements = [first, again, plain].filter((one) => one !== undefined);
  const nameOf: Ways["nameOf"] = (one) => (one === plain ? undefined : { name: "n1", isNew: one === first });

  assert.deepEqual(decoded(pipelineMessages(statements, { ...plainly, nameOf })), [
    ["close", "n1"],
    ["parse", "SELECT 1", "n1"],
    ...["a", "b", "a", "b"].flatMap((cell) => [["bind", [cell], "n1"], ["execute"]]),
    ["parse", "SELECT 2"],
    ...["a", "b"].flatMap((cell) => [["bind", [cell]], ["execute"]]),
    ["sync"],
  ]);
});

test("a row of a COPY that is larger than a buffer is written whole", () => {
  const long = "ü\t𝄞\\".repeat(100_000);
  const runs = [
    ["a", long],
    ["b", undefined],
    [long, long],
  ];

  const messages = decoded(pipelineMessages([{ at, text: "COPY", runs }], copying));

  assert.deepEqual(withRows(messages).at(3), ["rows", runs]);
});

test("a cell larger than a buffer and a run with the maximum of parameters are written whole", () => {
  const long = "ü𝄞 ".repeat(100_000);
  const many = Array.from({ length: 65_535 }, (_, index) => (index % 3 === 0 ? undefined : `value ${index}`));
  const statements = [{ at, text: "INSERT", runs: [["first", long, undefined, "last"], many] }];

  assert.deepEqual(decoded(pipelineMessages(statements)), expected(statements));
});

type Message =
  | readonly ["close", string]
  | readonly ["parse", string, name?: string]
  | readonly ["bind", readonly Cell[], name?: string]
  | readonly ["execute"]
  | readonly ["copied", string]
  | readonly ["done"]
  | readonly ["sync"];

/** The rows of messages that follow each other. */
function withRows(messages: readonly Message[]): readonly (readonly unknown[])[] {
  const all: (readonly unknown[])[] = [];
  let text = "";
  for (const message of messages) {
    if (message[0] === "copied") text += message[1];
    else {
      if (text !== "") all.push(["rows", rowsOf(text)]);
      text = "";
      all.push(message);
    }
  }
  return all;
}

/** https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-TEXT-FORMAT */
function rowsOf(text: string): readonly (readonly Cell[])[] {
  assert.equal(text.at(-1), "\n");
  const lines = text.slice(0, -1).split("\n");
  return lines.map((line) => line.split("\t").map((cell) => (cell === "\\N" ? undefined : unescaped(cell))));
}

const escapes: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", "\\": "\\" };

function unescaped(cell: string): string {
  assert.doesNotMatch(cell, /\r/);
  return cell.replaceAll(/\\(.)/g, (_, letter) => escapes[letter] ?? assert.fail(`an unknown escape in ${cell}`));
}

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
  if (type === "C") return ["close", body.toString("utf8", 1, body.length - 1)];
  if (type === "P") {
    const [name, from] = textAt(body, 0);
    const [text, end] = textAt(body, from);
    assert.deepEqual([body.readInt16BE(end), end + 2], [0, body.length]);
    return name === "" ? ["parse", text] : ["parse", text, name];
  }
  if (type === "B") {
    assert.equal(body[0], 0);
    const [name, from] = textAt(body, 1);
    const cells = cellsOf(body.subarray(from));
    return name === "" ? ["bind", cells] : ["bind", cells, name];
  }
  if (type === "E") assert.deepEqual([...body], [0, 0, 0, 0, 0]);
  else if (type === "d") return ["copied", body.toString()];
  else assert.equal(body.length, 0);
  if (type === "c") return ["done"];
  assert.ok(type === "E" || type === "S", type);
  return type === "E" ? ["execute"] : ["sync"];
}

/** A text that ends with a zero, and where the next one begins. */
function textAt(body: Buffer, from: number): readonly [string, number] {
  const end = body.indexOf(0, from);
  return [body.toString("utf8", from, end), end + 1];
}

function cellsOf(body: Buffer): readonly Cell[] {
  // No format codes: everything is text.
  assert.equal(body.readInt16BE(0), 0);
  const cells: Cell[] = [];
  let offset = 4;
  for (let left = body.readUInt16BE(2); left > 0; left -= 1) {
    const length = body.readInt32BE(offset);
    offset += 4;
    cells.push(length === -1 ? undefined : body.toString("utf8", offset, offset + length));
    offset += Math.max(0, length);
  }
  assert.deepEqual([body.readInt16BE(offset), offset + 2], [0, body.length]);
  return cells;
}
