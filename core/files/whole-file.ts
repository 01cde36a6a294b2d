import { open, rename } from "node:fs/promises";
import { refuseNoFile } from "./regular-file.js";

/** Gives a file of the kernel new content: a crash leaves the old content or the new one, never a part. Only its user may read it. */
export async function writeWhole(file: string, content: string): Promise<void> {
  const draft = `${file}.new`;
  await refuseNoFile(draft);
  const handle = await open(draft, "w", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

/** Makes durable what was made or renamed in a folder. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
