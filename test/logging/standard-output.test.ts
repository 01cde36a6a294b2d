import assert from "node:assert/strict";
import { test } from "node:test";
import { StandardOutput } from "../../core/logging/standard-output.js";

/** An output that takes a given number of bytes at a time, or fails with a code. */
function output() {
  let takes: number | string = 100;
  let attempts = 0;
  let pauses = 0;
  let readsAfter = Number.POSITIVE_INFINITY;
  let written = "";
  const stream = new StandardOutput({
    write: (bytes) => {
      attempts += 1;
      if (typeof takes === "string") throw Object.assign(new Error(takes), { code: takes });
      const taken = bytes.subarray(0, takes);
      written += Buffer.from(taken).toString();
      return taken.length;
    },
    pause: () => {
      pauses += 1;
      if (pauses >= readsAfter) takes = 100;
    },
  });
  const becomes = (next: number | string, pausesUntilRead = Number.POSITIVE_INFINITY) => {
    takes = next;
    readsAfter = pausesUntilRead;
  };
  return { stream, becomes, written: () => written, attempts: () => attempts, pauses: () => pauses };
}

test("of the lines that come while standard output takes none, one is written when it takes them again", () => {
  const { stream, becomes, written } = output();

  stream.write("a\n");
  becomes("ENOSPC");
  for (const line of ["b\n", "c\n", "d\n"]) assert.throws(() => stream.write(line), /ENOSPC/);
  becomes(1);
  for (const line of ["e\n", "f\n"]) stream.write(line);

  assert.equal(written(), "a\nb\ne\nf\n");
});

test("standard output waits for a reader that is behind, and ends with one that is gone", () => {
  const { stream, becomes, written, attempts } = output();

  becomes("EAGAIN", 3);
  stream.write("a\n");
  becomes("EPIPE");
  stream.write("b\n");
  const before = attempts();
  becomes(100);
  stream.write("c\n");

  assert.deepEqual([written(), attempts()], ["a\n", before]);
});

test("a reader that does not read is waited for once, and again after it has read", () => {
  const { stream, becomes, written, pauses } = output();

  becomes("EAGAIN");
  assert.throws(() => stream.write("a\n"), /EAGAIN/);
  const first = pauses();
  for (const line of ["b\n", "c\n"]) assert.throws(() => stream.write(line), /EAGAIN/);
  const later = pauses();
  becomes(100);
  stream.write("d\n");
  becomes("EAGAIN");
  assert.throws(() => stream.write("e\n"), /EAGAIN/);

  assert.deepEqual([first, later, pauses()], [200, 200, 400]);
  assert.equal(written(), "a\nd\n");
});
