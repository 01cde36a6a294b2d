import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "./free-port.js";

test("a free port is none that the system gives to connections", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort("127.0.0.1")));

  assert.deepEqual(
    ports.filter((port) => port < 10_000 || port >= 32_000),
    [],
  );
});
