import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import dns from "node:dns";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";
import { sharedLookup, shareLookups } from "../../core/entry/shared-lookups.js";

type Answer = (...result: readonly unknown[]) => void;

/** A lookup that answers when the test wants. */
function slowLookup() {
  const asked: (readonly [name: string, answer: Answer])[] = [];
  const lookup = (name: string, ...rest: readonly unknown[]) => {
    const answer = rest.at(-1);
    assert.ok(isAnswer(answer));
    asked.push([name, answer]);
  };
  return { asked, lookup };
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === "function";
}

test("a name that is being looked up is not looked up again until there is an answer; other names and options are", async () => {
  const { asked, lookup } = slowLookup();
  const shared = sharedLookup(lookup);
  const caller = new AsyncLocalStorage<string>();
  const heard: unknown[] = [];
  const ask = (name: string, who: string, options = {}) =>
    caller.run(who, () =>
      shared(name, options, (...result: readonly unknown[]) => heard.push([caller.getStore(), ...result])),
    );

  ask("a", "first");
  ask("a", "second", {});
  ask("a", "third", { family: 6 });
  ask("b", "fourth");
  asked[0]?.[1](undefined, "127.0.0.1", 4);
  await new Promise(setImmediate);
  ask("a", "fifth");

  assert.deepEqual(heard, [
    ["first", undefined, "127.0.0.1", 4],
    ["second", undefined, "127.0.0.1", 4],
  ]);
  assert.deepEqual(
    asked.map(([name]) => name),
    ["a", "a", "b", "a"],
  );
});

test("connections to one name wait for one lookup of it", async (context) => {
  const { lookup: own } = dns;
  const { asked, lookup } = slowLookup();
  context.after(() => Object.assign(dns, { lookup: own }));
  const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  Object.assign(dns, { lookup });

  shareLookups();
  const sockets = [1, 2, 3].map(() => connect({ port, host: "nats.example" }));
  const connected = Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const [, answer] of asked) answer(null, [{ address: "127.0.0.1", family: 4 }]);
  await connected;
  for (const socket of sockets) socket.destroy();

  assert.deepEqual(
    asked.map(([name]) => name),
    ["nats.example"],
  );
});

test("a lookup gives what Node's gives, also to promisify, and refuses what that refuses", async (context) => {
  const { lookup: own } = dns;
  context.after(() => Object.assign(dns, { lookup: own }));
  shareLookups();

  assert.deepEqual(await promisify(dns.lookup)("127.0.0.1"), { address: "127.0.0.1", family: 4 });
  assert.throws(() => Reflect.apply(dns.lookup, undefined, ["127.0.0.1", { family: 5 }, () => undefined]), TypeError);
  assert.throws(() => Reflect.apply(dns.lookup, undefined, ["127.0.0.1"]), TypeError);
});
