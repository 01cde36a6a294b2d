import { realpath, stat } from "node:fs/promises";
import { basename, sep } from "node:path";
import { type EditedText, editedFile } from "../../files/edited-text.js";
import { HttpError } from "../answers.js";

/** Maximum size of a properties file. */
const MOST_BYTES = 1024 * 1024;

/** The properties files of agents in one folder. Nothing outside of it is read, whatever a path or a link says. */
export class AgentFiles {
  readonly #folder: string;
  readonly #running: string;
  readonly #texts = new Map<string, EditedText>();

  /** `running` is the file of the running agent, which may have any name. */
  constructor(folder: string, running: string) {
    this.#folder = folder;
    this.#running = basename(running);
  }

  /** The file of an absolute path as a URL holds it. Throws status 400 for one that is not in the folder. */
  async at(encodedPath: string): Promise<EditedText> {
    const path = decoded(encodedPath);
    if (!this.#isNamedLikeAgent(path)) throw new HttpError(400, { error: "Agent file name must start with 'agent_'" });
    const file = await this.#fileOf(path);
    if (file === undefined || !this.#isNamedLikeAgent(file)) {
      throw new HttpError(400, { result: "File not found in the path received" });
    }
    const text = this.#texts.get(file) ?? editedFile(file);
    this.#texts.set(file, text);
    return text;
  }

  #isNamedLikeAgent(path: string): boolean {
    const name = basename(path);
    return name.startsWith("agent_") || name === this.#running;
  }

  async #fileOf(path: string): Promise<string | undefined> {
    if (!path.startsWith("/") || /[\0\\]|\/(?:\.{0,2})(?:\/|$)/.test(path)) return undefined;
    try {
      const [folder, file] = await Promise.all([realpath(this.#folder), realpath(path)]);
      if (!file.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) return undefined;
      const found = await stat(file);
      return found.isFile() && found.size <= MOST_BYTES ? file : undefined;
    } catch {
      // A path that does not exist and one that may not be read are answered alike.
      return undefined;
    }
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}
