import assert from "node:assert/strict";
import { test } from "node:test";
import type { Exchange } from "../../../plugins/http-source/exchange.js";
import { HeldRequests } from "../../../plugins/http-source/held-requests.js";

const exchangeOf = (path: string, isGone = false): Exchange => ({
  method: "POST",
  path,
  headers: {},
  body: new Uint8Array(),
  isGone,
  accept: () => undefined,
  refuse: () => 0,
  destroy: () => undefined,
});

test("requests are released in the order in which they came, without those whose sender went away", () => {
  const held = new HeldRequests(() => assert.fail("nothing is refused"));

  for (const exchange of [exchangeOf("/a"), exchangeOf("/b", true), exchangeOf("/c")]) held.add(exchange);

  assert.deepEqual(
    held.released().map(({ path }) => path),
    ["/a", "/c"],
  );
  assert.deepEqual(held.released(), []);
});

test("what waits too long is refused, and what comes after that at once", async () => {
  const refused: string[] = [];
  const over = new Promise<void>((resolve) => {
    const held: HeldRequests = new HeldRequests(({ path }) => {
      refused.push(path);
      if (path === "/a") held.add(exchangeOf("/b"));
      else resolve();
    }, 1);
    held.add(exchangeOf("/a"));
  });
  const loop = setInterval(() => undefined, 1000);

  await over;
  clearInterval(loop);

  assert.deepEqual(refused, ["/a", "/b"]);
});
