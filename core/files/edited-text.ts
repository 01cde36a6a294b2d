import { randomBytes } from "node:crypto";
import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { AgentError, codeOf } from "../sdk/index.js";
import { makeFolder } from "./make-folder.js";
import { refuseNoFile } from "./regular-file.js";
import { SerialQueue } from "./serial-queue.js";
import { syncFolder } from "./whole-file.js";

/** The new text of an edit, and its result for the caller. */
interface Edit<T> {
  readonly text: string;
  readonly result: T;
}

/** A text that is read and changed as a whole, by one writer at a time. */
export interface EditedText {
  /** Undefined when there is none yet. */
  read(): Promise<string | undefined>;
  /** Changes the text. Nothing is written when the change throws or returns no text. */
  edit<T>(change: (text: string | undefined) => Edit<T> | { readonly result: T }): Promise<T>;
}

/** The text of a file, which need not exist. */
export function editedFile(file: string): EditedText {
  return new SerialText(
    () => textOf(file),
    (text) => replaceFile(file, text),
  );
}

/** A text that ends with the process. */
export function editedMemory(): EditedText {
  let kept: string | undefined;
  return new SerialText(
    async () => kept,
    async (text) => {
      kept = text;
    },
  );
}

class SerialText implements EditedText {
  readonly #load: () => Promise<string | undefined>;
  readonly #save: (text: string) => Promise<void>;
  readonly #edits = new SerialQueue();

  constructor(load: () => Promise<string | undefined>, save: (text: string) => Promise<void>) {
    this.#load = load;
    this.#save = save;
  }

  read(): Promise<string | undefined> {
    return this.#load();
  }

  edit<T>(change: (text: string | undefined) => Edit<T> | { readonly result: T }): Promise<T> {
    return this.#edits.run(async () => {
      const edit = change(await this.#load());
      if ("text" in edit) await this.#save(edit.text);
      return edit.result;
    });
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    await refuseNoFile(file);
    return await readFile(file, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new AgentError("FILE_NOT_READ", `reading "${file}"`, { cause, retryable: false });
  }
}

const ORDINARY_MODE = 0o644;

/**
 * Gives a file a new text: readers see the old one or the new one, never a part, also after a power failure. What a
 * symbolic link points to is replaced, not the link; the permissions are kept; a missing folder is created.
 */
async function replaceFile(file: string, text: string): Promise<void> {
  try {
    await makeFolder(path.dirname(file));
    await replace(await target(file), text);
  } catch (cause) {
    throw new AgentError("FILE_NOT_WRITTEN", `writing "${file}" (is its folder writable?)`, {
      cause,
      retryable: false,
    });
  }
}

async function replace(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeSynced(temporary, text, await modeOf(file));
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(file));
}

async function writeSynced(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode);
  try {
    await handle.writeFile(text);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function target(file: string): Promise<string> {
  return (await ifThere(() => realpath(file))) ?? file;
}

async function modeOf(file: string): Promise<number> {
  const found = await ifThere(() => stat(file));
  return found === undefined ? ORDINARY_MODE : found.mode & 0o777;
}

async function ifThere<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
