import { failure } from "./expectations.js";

type State = ReadonlyMap<string, unknown>;

/**
 * Runs code of a plugin. Throws when it changed what the plugin shares with the agent and the other plugins, or wrote to standard output.
 *
 * @param listensTo - called with each signal that the code began to listen to, which then is no failure.
 */
export async function withSameProcess(
  run: () => Promise<void>,
  listensTo?: (signal: NodeJS.Signals) => void,
): Promise<void> {
  const before = state();
  const output = watchedOutput();
  await run().finally(() => output.end());
  const after = state();
  const added = listensTo === undefined ? [] : signals.filter((one) => count(after, one) > count(before, one));
  for (const signal of added) listensTo?.(signal);
  const harmless = new Set(added.map(listenersOf));
  const changed = changes(before, after).filter((name) => !harmless.has(name));
  if (changed.length > 0)
    throw failure(
      `the plugin shares its process with the agent and with other plugins, and changed ${changed.join(", ")}`,
    );
  const [line] = output.places;
  if (line !== undefined)
    throw failure(
      `standard output belongs to the agent (its log, the rows of an export), and was written to ${line}; use context.log`,
    );
}

/** What is compared, by its name for people. */
function state(): State {
  const variables = Object.entries(process.env).map(
    ([name, value]) => [`environment variable ${name}`, value] as const,
  );
  const members = prototypes.flatMap(([of, prototype]) =>
    Reflect.ownKeys(prototype).map(
      (key) => [`${String(key)} of ${of}`, Object.getOwnPropertyDescriptor(prototype, key)?.value] as const,
    ),
  );
  const listeners = events.map((event) => [listenersOf(event), process.listenerCount(event)] as const);
  return new Map<string, unknown>([...variables, ...members, ...listeners, ["the working directory", process.cwd()]]);
}

const prototypes = [
  ["Object.prototype", Object.prototype],
  ["Array.prototype", Array.prototype],
] as const;
const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
const events = [...signals, "uncaughtException", "unhandledRejection"] as const;

function listenersOf(event: string): string {
  return `listeners of process for ${event}`;
}

function count(of: State, event: string): number {
  return Number(of.get(listenersOf(event)));
}

function changes(before: State, after: State): readonly string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.filter((name) => before.get(name) !== after.get(name) || before.has(name) !== after.has(name));
}

/** Where files that are neither of Node nor of Deneb write to standard output, as long as it is not ended. */
function watchedOutput(): { readonly places: readonly string[]; end(): void } {
  const places: string[] = [];
  const { stdout } = process;
  const write = stdout.write;
  const watching: typeof write = function (this: unknown, ...args: unknown[]): boolean {
    const frames = (new Error("only for its stack").stack ?? "").split("\n").map((frame) => frame.trim());
    const place = frames.find((frame) => frame.includes("file://") && !frame.includes(deneb));
    if (place !== undefined) places.push(place);
    return Reflect.apply(write, stdout, args);
  };
  stdout.write = watching;
  return {
    places,
    end: () => {
      if (stdout.write === watching) stdout.write = write;
    },
  };
}

const deneb = new URL("../", import.meta.url).href;
