import assert from "node:assert/strict";
import { test } from "node:test";
import { notificationBodies } from "./notifications.js";

for (const format of ["ld", "v2"] as const) {
  test(`a body of ${format} with a wanted length has exactly that length and is JSON`, () => {
    const bodies = notificationBodies({ format, entities: 3, bytes: 10_000 });

    assert.deepEqual(
      bodies.map((body) => Buffer.byteLength(body)),
      [10_000, 10_000, 10_000],
    );
    assert.equal(JSON.parse(bodies[0] ?? "").data[0].payload.value.length > 8000, true);
  });

  test(`each entity of ${format} is in one notification, also when the last one is not full`, () => {
    const bodies = notificationBodies({ format, entities: 25, perNotification: 10 });

    const ids = bodies.map((body) => JSON.parse(body).data.map(({ id }: { id: string }) => id));
    assert.deepEqual(
      ids.map(({ length }) => length),
      [10, 10, 5],
    );
    assert.equal(new Set(ids.flat()).size, 25);
  });
}
