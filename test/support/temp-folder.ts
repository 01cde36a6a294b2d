import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";

const made = new Set<string>();

// An agent that stops after the end of its test writes its books once more.
process.once("exit", () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that goes away with the test. */
export async function tempFolder(context: Pick<TestContext, "after">): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-test-"));
  made.add(folder);
  context.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
