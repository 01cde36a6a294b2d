import { readFile } from "node:fs/promises";
import { AgentError, codeOf } from "../sdk/index.js";
import { replaceFile } from "./replace-file.js";

/** What an edit makes of a text, and what it has to say to its caller. */
export interface Edit<T> {
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
  #last: Promise<unknown> = Promise.resolve();

  constructor(load: () => Promise<string | undefined>, save: (text: string) => Promise<void>) {
    this.#load = load;
    this.#save = save;
  }

  read(): Promise<string | undefined> {
    return this.#load();
  }

  edit<T>(change: (text: string | undefined) => Edit<T> | { readonly result: T }): Promise<T> {
    const turn = this.#last.then(async () => {
      const edit = change(await this.#load());
      if ("text" in edit) await this.#save(edit.text);
      return edit.result;
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new AgentError("FILE_NOT_READ", `reading "${file}"`, { cause, retryable: false });
  }
}
