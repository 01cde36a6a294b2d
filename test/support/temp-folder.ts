import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";

/** A new folder that goes away with the test. */
export async function tempFolder(context: Pick<TestContext, "after">): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-test-"));
  context.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
