import assert from "node:assert/strict";
import { test } from "node:test";
import { stacksOf } from "../../core/sdk/causes.js";
import { AgentError, codeOf, reasonOf, retryAfterOf, retryableOf } from "../../core/sdk/index.js";

for (const retryable of [true, false])
  test(`an error that was made with retryable: ${retryable} says so`, () =>
    assert.equal(retryableOf(new AgentError("STORE_GONE", "writing", { retryable })), retryable));

for (const { number, name, text } of [
  { number: 122, name: "EDQUOT", text: "EDQUOT: disk quota exceeded, write" },
  { number: 116, name: "ESTALE", text: "ESTALE: stale file handle, write" },
  { number: 99_999, name: undefined, text: undefined },
])
  test(`the error ${number} of the system, which Node does not name, is ${name ?? "left as it is"}`, () => {
    const code = `Unknown system error -${number}`;
    const message = `${code}: ${code}, write`;
    const error = Object.assign(new Error(message), { code, errno: -number });

    assert.equal(codeOf(error), name ?? code);
    assert.equal(reasonOf(error), text ?? message);
  });

test("an error that was made in JavaScript without options does not say whether to retry", () => {
  const error: unknown = Reflect.construct(AgentError, ["STORE_GONE", "writing"]);

  assert.ok(error instanceof AgentError);
  assert.equal(error.code, "STORE_GONE");
  assert.equal(retryableOf(error), undefined);
});

const circle = new Error("first");
circle.cause = new Error("second", { cause: circle });
const unreadable = Object.defineProperty(new Error(), "message", {
  get() {
    throw new Error("no message");
  },
});

for (const { what, thrown, reason } of [
  { what: "an error with causes", thrown: new Error("a", { cause: new Error("b\n c") }), reason: "a: b c" },
  { what: "an error that is its own cause in two steps", thrown: circle, reason: "first: second" },
  {
    what: "what a host with several addresses gives",
    thrown: new Error("fetch failed", { cause: new AggregateError([new Error("no ::1"), new Error("no 127.0.0.1")]) }),
    reason: "fetch failed: no ::1, no 127.0.0.1",
  },
  {
    what: "an error with a code alone",
    thrown: Object.assign(new Error(), { code: "ECONNRESET" }),
    reason: "ECONNRESET",
  },
  {
    what: "an error that quotes its cause",
    thrown: new Error("writing: disk full (28)", { cause: new Error("disk full") }),
    reason: "writing: disk full (28)",
  },
  {
    what: "an error that quotes its cause, but for its last stop",
    thrown: new Error("writing: disk full; free space", { cause: new Error("disk full.") }),
    reason: "writing: disk full; free space",
  },
  {
    what: "an error whose cause is a part of one of its words",
    thrown: new Error("the table already has rows", { cause: new Error("read") }),
    reason: "the table already has rows: read",
  },
  { what: "an error with nothing", thrown: new RangeError(), reason: "RangeError" },
  { what: "an error whose message is no text", thrown: Object.assign(new Error(), { message: 5 }), reason: "5" },
  {
    what: "an error that cannot be read",
    thrown: unreadable,
    reason: "something was thrown that cannot be made a text",
  },
  { what: "undefined", thrown: undefined, reason: "undefined was thrown" },
  { what: "an empty text", thrown: "", reason: "an empty text was thrown" },
  { what: "an object like an error", thrown: { message: "busy", code: 5 }, reason: "busy" },
  {
    what: "an object that is like no error",
    thrown: { odd: true, status: 503 },
    reason: "an object that is no error was thrown, with odd, status",
  },
  {
    what: "an error that quotes a long answer",
    thrown: new Error(`posting: ${"x".repeat(49_991)}`, { cause: new Error("status 500") }),
    reason: `posting: ${"x".repeat(9_991)}... (40000 more characters): status 500`,
  },
  { what: "no error", thrown: Object.create(null), reason: "something was thrown that cannot be made a text" },
])
  test(`the reason of ${what} is one line`, () => assert.equal(reasonOf(thrown), reason));

test("what is printed of an error that ends the process are stacks of it and its causes, not members that may be secret", () => {
  const cause = Object.assign(new Error("no answer"), { config: { headers: { authorization: "sesame-1" } } });
  const odd = Object.defineProperty(new Error("odd"), "stack", { get: () => assert.fail("a getter that throws") });

  const printed = stacksOf(new Error("calling the store", { cause }));

  assert.match(printed, /^Error: calling the store\n +at [\s\S]*\ncaused by: Error: no answer\n +at /);
  assert.doesNotMatch(printed, /sesame/);
  assert.equal(stacksOf(odd), "odd");
  assert.equal(stacksOf(undefined), "undefined");
});

test("of what was thrown nothing is known when every look at it throws what is just as odd", () => {
  const odd = throwing();

  const known = [codeOf(odd), retryableOf(odd), retryAfterOf(odd), reasonOf(odd)];

  assert.deepEqual(known, [undefined, undefined, undefined, "something was thrown that cannot be made a text"]);
});

/** A proxy of which each trap throws another one. */
function throwing(): object {
  const trap = (): never => {
    throw throwing();
  };
  return new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap });
}
