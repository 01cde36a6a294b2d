import { isAbsolute, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { CountedWarnings } from "../pipeline/counted-warnings.js";
import { AgentError, type Logger, reasonOf } from "../sdk/index.js";
import type { CataloguedPlugin } from "../tokens.js";
import type { Part } from "./parts-of.js";

interface StrayErrorsParts {
  readonly plugins: readonly CataloguedPlugin[];
  /** The components that run now. */
  readonly parts: () => readonly Part[];
  readonly log: Logger;
  /** `by` is 1 when absent; 0 shows that there is a component that could be counted. */
  readonly count: (plugin: string, component: string, by?: number) => void;
  now(): Date;
}

/**
 * Errors that nobody caught. One that a plugin of others threw does not end the agent: it is logged and counted, and the
 * components of the plugin are degraded. Whose it is the stack says: see decision 0152.
 */
export class StrayErrors {
  readonly #parts: StrayErrorsParts;
  readonly #warnings: CountedWarnings;

  constructor(parts: StrayErrorsParts) {
    this.#parts = parts;
    this.#warnings = new CountedWarnings(parts);
  }

  /** The types of the plugins of others, sorted. */
  get suspects(): readonly string[] {
    const others = this.#parts.plugins.filter(({ folder }) => folder !== undefined);
    return [...new Set(others.map(({ definition }) => definition.type))].toSorted();
  }

  /** Shows the count of each component of a plugin of others, also before its first error. */
  show(): void {
    const { plugins, parts, count } = this.#parts;
    const others = plugins.filter(({ folder }) => folder !== undefined).map(({ definition }) => definition);
    for (const { name, definition } of parts()) if (others.includes(definition)) count(definition.type, name, 0);
  }

  /** Logs what was counted and not logged yet. */
  stop(): void {
    this.#warnings.flush();
  }

  /** False when the error is of no plugin of others. */
  take(error: unknown): boolean {
    const { plugins, parts, count } = this.#parts;
    const folder = ownerOf(
      error,
      plugins.flatMap((plugin) => plugin.folder ?? []),
    );
    if (folder === undefined) return false;
    const own = plugins.filter((plugin) => plugin.folder === folder).map(({ definition }) => definition);
    const thrown = parts().filter(({ definition }) => own.includes(definition));
    for (const { name, reported } of thrown) reported.strayed(name, error);
    const types = [
      ...new Set((thrown.length > 0 ? thrown.map(({ definition }) => definition) : own).map(({ type }) => type)),
    ];
    const [only] = thrown;
    if (thrown.length === 1) only?.abandon?.(error);
    const names = [...new Set(thrown.map(({ name }) => name))];
    if (names.length === 0) for (const type of types) count(type, "");
    for (const { name, definition } of thrown) count(definition.type, name);
    const fields = {
      plugin: types.join(", "),
      folder,
      components: names,
      reason: reasonOf(error),
      at: firstFrame(error, folder),
    };
    const message = "a plugin did not catch an error; the agent goes on, its component may not work";
    this.#warnings.add(folder, { level: "error", message, fields });
    return true;
  }
}

const PROGRAM = ["core", "plugins", "bundle"].map((room) => fileURLToPath(new URL(`../../${room}`, import.meta.url)));

/**
 * The folder that the topmost frame is in which is either in one of the folders or in the program; undefined when that is
 * the program, or there is none. An error that the program throws for its caller, such as one for a wrong argument, is of
 * the caller.
 */
function ownerOf(error: unknown, folders: readonly string[]): string | undefined {
  for (const file of filesOf(error)) {
    const innermost = [...folders, ...PROGRAM]
      .filter((folder) => isBelow(file, folder))
      .toSorted((one, other) => other.length - one.length)[0];
    if (innermost === undefined) continue;
    if (!PROGRAM.includes(innermost)) return innermost;
    if (!(error instanceof AgentError)) return undefined;
  }
  return undefined;
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(join(folder, sep));
}

function firstFrame(error: unknown, folder: string): string | undefined {
  return framesOf(error).find((frame) => isBelow(fileOf(frame) ?? "", folder));
}

function filesOf(error: unknown): readonly string[] {
  return framesOf(error).flatMap((frame) => fileOf(frame) ?? []);
}

/** Places as the stack writes them, the topmost first; what was thrown may be anything. */
function framesOf(error: unknown): readonly string[] {
  try {
    if (!(error instanceof Error) || typeof error.stack !== "string") return [];
    const { stack } = error;
    // The message may quote what looks like a frame.
    const message = ownMessageOf(error);
    const start = stack.indexOf(message);
    const frames = start === -1 ? stack : stack.slice(start + message.length);
    return frames.split("\n").flatMap((line) => FRAME.exec(line.trim())?.[1] ?? []);
  } catch {
    return [];
  }
}

/** Empty where it is a getter of somebody that throws. */
function ownMessageOf(error: Error): string {
  try {
    return String(error.message);
  } catch {
    return "";
  }
}

const FRAME = /^at (?:.*\()?(.*?:\d+:\d+)\)?$/;

function fileOf(frame: string): string | undefined {
  const place = frame.replace(/^async /, "").replace(/:\d+:\d+$/, "");
  if (isAbsolute(place)) return place;
  try {
    return place.startsWith("file://") ? fileURLToPath(place) : undefined;
  } catch {
    return undefined;
  }
}
