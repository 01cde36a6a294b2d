import assert from "node:assert/strict";
import { test } from "node:test";
import { StandardOutput } from "../../core/logging/standard-output.js";

/** An output that takes as many bytes at a time as it is told, or fails with a code. */
function output() {
  let takes: number | string = 100;
  let attempts = 0;
  let written = "";
  const stream = new StandardOutput((bytes) => {
    attempts += 1;
    if (typeof takes === "string") {
      const code = takes;
      if (code === "EAGAIN") takes = 100;
      throw Object.assign(new Error(code), { code });
    }
    const taken = bytes.subarray(0, takes);
    written += Buffer.from(taken).toString();
    return taken.length;
  });
  const becomes = (next: number | string) => {
    takes = next;
  };
  return { stream, becomes, written: () => written, attempts: () => attempts };
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

  becomes("EAGAIN");
  stream.write("a\n");
  becomes("EPIPE");
  stream.write("b\n");
  const before = attempts();
  becomes(100);
  stream.write("c\n");

  assert.deepEqual([written(), attempts()], ["a\n", before]);
});
