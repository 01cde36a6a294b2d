import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ReportEnds } from "../../../plugins/rdb-sink/postgresql/report-ends.js";
import { runCli } from "../../support/run-cli.js";
import { tempFolder } from "../../support/temp-folder.js";
import { refusingServer } from "./fake-server.js";

const READY = message("Z", "I");
const ENDED = message("E", "SFATAL\0C53300\0Mno\0\0");
const cases = [
  { name: "an error with its end", sent: ENDED, read: ENDED },
  { name: "an error without its end", sent: message("E", "SFATAL\0C53300\0Mno\0"), read: ENDED },
  { name: "an error that is cut within a field", sent: message("E", "SFATAL\0C53300\0Mno"), read: ENDED },
  { name: "an error whose last field is empty", sent: message("E", "Mno\0H\0\0"), read: message("E", "Mno\0H\0\0") },
  { name: "an error without fields", sent: message("E", "\0"), read: message("E", "\0") },
  { name: "an error without anything", sent: message("E", ""), read: message("E", "\0\0") },
  { name: "a notice without its end", sent: message("N", "Mno\0"), read: message("N", "Mno\0\0") },
  { name: "a row that looks like an error", sent: message("D", "E\0\0\0\x04"), read: message("D", "E\0\0\0\x04") },
] as const;

for (const { name, sent, read } of cases)
  test(`${name} can be read to its end between other messages, wherever its bytes are split`, () => {
    const all = Buffer.from(READY + sent + READY, "latin1");

    for (let at = 0; at <= all.length; at += 1) {
      const ends = new ReportEnds();
      const parts = [ends.added(all.subarray(0, at)), ends.added(all.subarray(at))];

      assert.equal(Buffer.concat(parts).toString("latin1"), READY + read + READY, `split at ${at}`);
    }
  });

test("an error that quotes a value of megabytes is put together once, however many pieces it comes in", (context) => {
  const all = Buffer.from(message("E", `M${"x".repeat(1_000_000)}\0`) + READY, "latin1");
  const concat = context.mock.method(Buffer, "concat");
  const ends = new ReportEnds();

  const parts: Buffer[] = [];
  for (let at = 0; at < all.length; at += 1000) parts.push(ends.added(all.subarray(at, at + 1000)));

  assert.equal(concat.mock.callCount(), 2, "once for its pieces, and once for its end");
  assert.equal(
    parts.reduce((sum, { length }) => sum + length, 0),
    all.length + 1,
  );
});

test("of an error that is longer than a megabyte the rest is left out, and what follows it is read, wherever its bytes are split", () => {
  const most = 2 ** 20;
  const long = message("E", `M${"x".repeat(most)}\0H${"y".repeat(100)}\0\0`);
  const all = Buffer.from(READY + long + READY + ENDED, "latin1");
  const read = READY + message("E", `M${"x".repeat(most - 5)}\0\0`) + READY + ENDED;

  for (const at of [1, 9, most, most + 5, most + 6, most + 7, most + 11, most + 50, all.length - 25, all.length]) {
    const ends = new ReportEnds();
    const parts = [ends.added(all.subarray(0, at)), ends.added(all.subarray(at))];

    assert.ok(Buffer.concat(parts).equals(Buffer.from(read, "latin1")), `split at ${at}`);
  }
});

test("an error without end takes a megabyte of memory", () => {
  const ends = new ReportEnds();
  const chunk = Buffer.alloc(65_536, "x");

  let read = ends.added(Buffer.from("E\xff\xff\xff\xf0M", "latin1")).length;
  for (let count = 0; count < 100; count += 1) read += ends.added(chunk).length;

  assert.equal(read, 1 + 2 ** 20 + 2);
});

for (const [name, head] of [
  ["none for itself", "D\0\0\0\x03"],
  ["none for itself in an error", "E\0\0\0\x02"],
  ["more than a server can allocate", "D\x40\0\0\0"],
  ["more than its type has, as in the answer of an HTTP server", "HTTP/1.1 400 Bad Request"],
] as const)
  test(`a length with ${name} is an error at once`, () => {
    assert.throws(() => new ReportEnds().added(Buffer.from(head, "latin1")), /with a length of \d+ bytes/);
  });

// In processes of their own: `pg` would not return from the message, and no time limit of a test would end it.
for (const { command, exit } of [
  { command: ["check", "--connect"], exit: 6 },
  { command: ["tables", "list"], exit: 1 },
] as const)
  test(`"${command.join(" ")}" names the reason in an error that has no end, as those of pgagroal`, async (context) => {
    const port = await refusingServer(context, "53300", "connection refused", { ended: false });
    const file = join(await tempFolder(context), "agent.properties");
    await writeFile(file, configuration(port));

    const { code, stdout, stderr } = await runCli([...command, "--config", file]);

    assert.equal(code, exit);
    assert.match(stdout + stderr, /has no connection left/);
  });

function message(type: string, body: string): string {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return type + length.toString("latin1") + body;
}

function configuration(port: number): string {
  return `a.sources = h
a.channels = c
a.sinks = s
a.sources.h.type = http
a.sources.h.channels = c
a.sources.h.port = 5055
a.sources.h.handler = ngsi
a.channels.c.type = memory
a.sinks.s.type = rdb
a.sinks.s.channel = c
a.sinks.s.rdb_host = 127.0.0.1
a.sinks.s.rdb_port = ${port}
a.sinks.s.rdb_options = sslmode=disable
`;
}
