import assert from "node:assert/strict";
import { test } from "node:test";
import { plainHead } from "../../../../plugins/http-source/head-reader/plain-head.js";
import { heapUsed } from "../../../support/heap-used.js";

const limits = { head: 400, body: 100 };
const read = (...lines: readonly string[]) =>
  plainHead(Buffer.from(`${lines.join("\r\n")}\r\n\r\nbody`, "latin1"), limits);
const post = "POST /notify HTTP/1.1";
const usual = ["Host: agent", "Content-Length: 4"] as const;

test("the head of a plain request gives path, headers and the place of the body", () => {
  const lines = ["POST /notify?subscriptionId=urn:1 HTTP/1.1", ...usual, "Fiware-Service:   open iot  ", "X:"];
  const head = read(...lines);
  const bodyFrom = lines.join("\r\n").length + 4;

  assert.deepEqual(head, {
    path: "/notify?subscriptionId=urn:1",
    headers: { host: "agent", "content-length": "4", "fiware-service": "open iot", x: "" },
    bodyFrom,
    bodyTo: bodyFrom + 4,
    isLast: false,
  });
});

test("bytes beyond ASCII stay as they came, one character for each", () => {
  const bytes = Buffer.from("pà", "utf8").toString("latin1");

  assert.equal(read(post, ...usual, `Fiware-Service: ${bytes}`)?.headers["fiware-service"], bytes);
});

const others: Readonly<Record<string, readonly string[]>> = {
  "another method": ["GET /notify HTTP/1.1", ...usual],
  "another letter case of the method": ["post /notify HTTP/1.1", ...usual],
  "HTTP/1.0": ["POST /notify HTTP/1.0", ...usual],
  "no version": ["POST /notify", ...usual],
  "a blank in the path": ["POST /no tify HTTP/1.1", ...usual],
  "two blanks before the path": ["POST  /notify HTTP/1.1", ...usual],
  "an absolute address": ["POST http://agent/notify HTTP/1.1", ...usual],
  "an empty line in front": ["", post, ...usual],
  "no host": [post, "Content-Length: 4"],
  "no length": [post, "Host: agent"],
  "an empty length": [post, "Host: agent", "Content-Length:"],
  "a length with a sign": [post, "Host: agent", "Content-Length: +4"],
  "a length in hexadecimal": [post, "Host: agent", "Content-Length: 0x4"],
  "a list of lengths": [post, "Host: agent", "Content-Length: 4, 4"],
  "a length beyond what numbers hold": [post, "Host: agent", "Content-Length: 99999999999999999999"],
  "a body above the limit": [post, "Host: agent", "Content-Length: 101"],
  "two lengths": [post, ...usual, "Content-Length: 4"],
  "a repeated header": [post, ...usual, "A: 1", "a: 2"],
  "a header that every object inherits": [post, ...usual, "constructor: a"],
  "a chunked body": [post, ...usual, "Transfer-Encoding: chunked"],
  "an expectation": [post, ...usual, "Expect: 100-continue"],
  "an upgrade": [post, ...usual, "Upgrade: h2c"],
  "options of the connection": [post, ...usual, "Connection: keep-alive, upgrade"],
  "a folded header": [post, ...usual, "A: 1", " 2"],
  "a blank before the colon": [post, ...usual, "A : 1"],
  "a header without name": [post, ...usual, ": 1"],
  "a header without colon": [post, ...usual, "A"],
  "a line feed alone": [post, ...usual, "A: 1\nB: 2"],
  "a carriage return alone": [post, ...usual, "A: 1\rB: 2"],
  "NUL in a header": [post, ...usual, "A: \0"],
  "a delete character in a header": [post, ...usual, "A: \x7f"],
  "a tab behind a length": [post, "Host: agent", "Content-Length: 4\t"],
  "a tab behind the wish for the connection": [post, ...usual, "Connection: close\t"],
  "a wish for the connection to a proxy": [post, ...usual, "Proxy-Connection: close"],
  "a head above the limit": [post, ...usual, `A: ${"a".repeat(400)}`],
};
for (const [name, lines] of Object.entries(others))
  test(`a request with ${name} is not plain`, () => {
    assert.equal(read(...lines), undefined);
  });

for (const [connection, isLast] of [
  ["keep-alive", false],
  ["Keep-Alive", false],
  ["close", true],
  ["Close", true],
] as const)
  test(`with "Connection: ${connection}" it is ${isLast ? "" : "not "}the last request of its connection`, () => {
    assert.equal(read(post, ...usual, `Connection: ${connection}`)?.isLast, isLast);
  });

test("headers that are remembered do not keep the head they came with", () => {
  const before = heapUsed();

  const remembered = Array.from({ length: 2000 }, (_, number) => {
    const lines = [post, "Host: agent", "Content-Length: 4", `Fiware-Service: serviceNumber${number}`];
    const padded = [...lines, `X: ${"x".repeat(20_000)}`, "", ""].join("\r\n");
    return plainHead(Buffer.from(padded), { head: 30_000, body: 100 })?.headers["fiware-service"];
  });

  const kept = heapUsed() - before;
  assert.ok(kept < 10_000_000, `${kept} bytes kept`);
  assert.equal(remembered.at(-1), "serviceNumber1999");
});

test("a head that is not complete is not plain", () => {
  assert.equal(plainHead(Buffer.from(`${post}\r\nHost: agent\r\nContent-Length: 4\r\n`), limits), undefined);
});

test("lines that repeat are read like the first of their kind, and so are those of a name that never repeats", () => {
  const heads = Array.from({ length: 250 }, (_, at) =>
    read(post, ...usual, "Fiware-Service: repeated", `Fiware-Correlator: of-${at}`, "X-Auth-Token:   t1 "),
  );

  for (const [at, head] of heads.entries()) {
    assert.deepEqual(head?.headers, {
      host: "agent",
      "content-length": "4",
      "fiware-service": "repeated",
      "fiware-correlator": `of-${at}`,
      "x-auth-token": "t1",
    });
  }
});

test("a line that was read before is not plain when it is there twice", () => {
  assert.notEqual(read(post, ...usual, "Fiware-Service: known"), undefined);

  assert.equal(read(post, ...usual, "Fiware-Service: known", "Fiware-Service: known"), undefined);
});
