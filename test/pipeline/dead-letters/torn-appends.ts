import { type FileHandle, open } from "node:fs/promises";
import type { TestContext } from "node:test";

/**
 * From now on an append writes 20 bytes and fails, and what it wrote cannot be cut off again, until each is restored; `file` is any
 * that is there.
 */
export async function tornAppends(context: TestContext, file: string) {
  const handle = await open(file, "r");
  const files = Object.getPrototypeOf(handle);
  await handle.close();
  const fails = () => Promise.reject(Object.assign(new Error("EIO: i/o error"), { code: "EIO" }));
  const append = context.mock.method(files, "appendFile", async function (this: FileHandle, text: string) {
    await this.write(text.slice(0, 20));
    return await fails();
  });
  const truncate = context.mock.method(files, "truncate", fails);
  return { append: append.mock, truncate: truncate.mock };
}
