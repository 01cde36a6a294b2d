import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Event } from "deneb/sdk";

/** The files of a folder, each with the events of one put; their names are in the order of the puts. */
export class EventFiles {
  readonly #folder: string;
  #number = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All files, oldest first; a put that a crash interrupted has none. */
  async read(): Promise<readonly { readonly name: string; readonly events: readonly Event[] }[]> {
    const names = (await readdir(this.#folder)).sort();
    await this.remove(names.filter((name) => name.endsWith(".new")));
    const files = [];
    for (const name of names.filter((one) => one.endsWith(".json"))) {
      const events: readonly Event[] = JSON.parse(await readFile(join(this.#folder, name), "utf8"));
      files.push({ name, events });
      this.#number = Number.parseInt(name, 10);
    }
    return files;
  }

  /** The name of a new file, once it is on disk as a whole, whatever happens to the process or the power. */
  async write(events: readonly Event[]): Promise<string> {
    this.#number += 1;
    const name = `${String(this.#number).padStart(16, "0")}.json`;
    const file = join(this.#folder, name);
    const handle = await open(`${file}.new`, "w", 0o600);
    try {
      await handle.writeFile(JSON.stringify(events));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${file}.new`, file);
    await this.#syncFolder();
    return name;
  }

  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(join(this.#folder, name), { force: true });
  }

  /** Where the names of the files are kept. */
  async #syncFolder(): Promise<void> {
    const handle = await open(this.#folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}
