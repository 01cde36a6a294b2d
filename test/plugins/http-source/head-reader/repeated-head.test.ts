import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { plainHead } from "../../../../plugins/http-source/head-reader/plain-head.js";
import { RepeatedHead } from "../../../../plugins/http-source/head-reader/repeated-head.js";

const limits = { head: 4096, body: 1_000_000 };

/** A request of a sender that names the length in the middle, as Orion does. */
function request(length: number | string, { service = "city", body = "x".repeat(Number(length)) } = {}): Buffer {
  const lines = ["POST /notify HTTP/1.1", "Host: a", `Content-Length: ${length}`, `Fiware-Service: ${service}`];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`, "latin1");
}

test("a head that repeats says what it said before, with its own length", () => {
  const heads = new RepeatedHead();
  heads.read(request(5), limits);

  const again = heads.read(request(12), limits);

  assert.deepEqual(again, plainHead(request(12), limits));
  assert.equal(again?.headers["content-length"], "12");
  assert.equal(again === undefined ? "" : request(12).toString("latin1", again.bodyFrom, again.bodyTo), "x".repeat(12));
});

test("headers that were handed out keep their length when a later head has another one", () => {
  const heads = new RepeatedHead();
  const first = heads.read(request(5), limits);

  heads.read(request(7), limits);

  assert.equal(first?.headers["content-length"], "5");
});

test("a body that becomes too long for the limit is not read by what its head said before", () => {
  const heads = new RepeatedHead();
  heads.read(request(5), limits);

  assert.equal(heads.read(request(6), { ...limits, body: 5 }), undefined);
  assert.equal(heads.read(request(5), { ...limits, head: 20 }), undefined);
});

const lengths = fc.oneof(
  fc.integer({ min: 0, max: 300 }).map(String),
  fc.constantFrom("007", "00", "0", "", "-1", "1e3", "+5", " 5", "5 ", "999999999999999", "9999999999999999", "5, 5"),
);
const lines = fc.constantFrom(
  "Host: a",
  "host: b",
  "Connection: close",
  "Connection: keep-alive",
  "Transfer-Encoding: chunked",
  "Fiware-Correlator: 1",
  "Fiware-Correlator: 2",
  "Authorization: Bearer secret",
  "Content-Length: 3",
  "X: Content-Length: 3",
);
const heads = fc.record({
  path: fc.constantFrom("/notify", "/other", "/notify?x=1"),
  name: fc.constantFrom("Content-Length", "content-length", "CONTENT-LENGTH"),
  length: lengths,
  before: fc.array(lines, { maxLength: 3 }),
  after: fc.array(lines, { maxLength: 3 }),
  cut: fc.integer({ min: 0, max: 400 }),
});

test("whatever heads a connection sends one after another, each says what it would say alone", () => {
  const few = fc.uniqueArray(heads, { minLength: 1, maxLength: 3 });
  const turns = fc.array(fc.tuple(fc.nat(2), fc.option(lengths), fc.boolean()), { maxLength: 40 });
  fc.assert(
    fc.property(few, turns, (kinds, order) => {
      const connection = new RepeatedHead();
      for (const [at, length, isCut] of order) {
        const kind = kinds[at % kinds.length];
        if (kind === undefined) continue;
        const { path, name, before, after, cut } = kind;
        const all = [...before, `${name}: ${length ?? kind.length}`, ...after];
        const whole = Buffer.from(`POST ${path} HTTP/1.1\r\n${all.join("\r\n")}\r\n\r\n{"a":1}`, "latin1");
        const bytes = isCut ? whole.subarray(0, cut) : whole;

        assert.deepEqual(connection.read(bytes, limits), plainHead(bytes, limits));
      }
    }),
    { numRuns: 3000, seed: 20261124 },
  );
});

test("after many heads that do not repeat each still says what it would say alone", () => {
  const connection = new RepeatedHead();

  for (let turn = 0; turn < 30; turn += 1) {
    const bytes = request(5, { service: turn % 11 === 0 ? "city" : `city_${turn}` });
    assert.deepEqual(connection.read(bytes, limits), plainHead(bytes, limits));
  }
});
