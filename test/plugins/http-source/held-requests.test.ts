import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldRequests } from "../../../plugins/http-source/held-requests.js";
import type { HttpRequest } from "../../../plugins/http-source/http-request.js";

const requestOf = (path: string, isGone = false): HttpRequest => ({
  method: "POST",
  path,
  headers: {},
  body: new Uint8Array(),
  isGone,
  accept: () => undefined,
  refuse: () => 0,
  destroy: () => undefined,
});

test("requests are released in the order in which they came, without those whose sender disconnected", () => {
  const held = new HeldRequests(() => assert.fail("nothing is refused"));

  for (const request of [requestOf("/a"), requestOf("/b", true), requestOf("/c")]) held.add(request);

  assert.deepEqual(
    held.released().map(({ path }) => path),
    ["/a", "/c"],
  );
  assert.deepEqual(held.released(), []);
});

test("requests that wait too long are refused, and later ones at once", async () => {
  const refused: string[] = [];
  const over = new Promise<void>((resolve) => {
    const held: HeldRequests = new HeldRequests(({ path }) => {
      refused.push(path);
      if (path === "/a") held.add(requestOf("/b"));
      else resolve();
    }, 1);
    held.add(requestOf("/a"));
  });
  const loop = setInterval(() => undefined, 1000);

  await over;
  clearInterval(loop);

  assert.deepEqual(refused, ["/a", "/b"]);
});
