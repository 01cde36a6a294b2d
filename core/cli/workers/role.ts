import { isRecord, parsedJson } from "../../sdk/event.js";

/** What a process is that the supervisor of an agent has started. */
export interface WorkerRole {
  /** From 1. */
  readonly number: number;
  /** Workers of the agent, this one included. */
  readonly of: number;
  /** False: it stores what an earlier, larger number of workers left in its folder, and ends. */
  readonly receives: boolean;
  /** What it keeps on disk. */
  readonly dataDir: string;
  /** Path of the socket that its management interface listens on. */
  readonly socket: string;
}

/** What a worker tells its supervisor. */
export type WorkerMessage =
  | { readonly deneb: "ready" }
  /** Again and again: events that its end would lose now. */
  | { readonly deneb: "in-memory"; readonly events: number };

/** What a supervisor asks of a worker. */
export type SupervisorMessage = { readonly deneb: "stop" } | { readonly deneb: "reload" };

const VARIABLE = "DENEB_WORKER";

/** The variable that gives a process its role. */
export function roleVariable(role: WorkerRole): Readonly<Record<string, string>> {
  return { [VARIABLE]: JSON.stringify(role) };
}

/** The role of this process, which is taken from its environment; undefined for one that a user has started. */
export function takeRole(env: NodeJS.ProcessEnv, hasParent: boolean): WorkerRole | undefined {
  const text = env[VARIABLE];
  delete env[VARIABLE];
  if (text === undefined || !hasParent) return undefined;
  const role = parsedJson(text);
  return isRole(role) ? role : undefined;
}

function isRole(value: unknown): value is WorkerRole {
  return (
    isRecord(value) &&
    typeof value["number"] === "number" &&
    typeof value["of"] === "number" &&
    typeof value["receives"] === "boolean" &&
    typeof value["dataDir"] === "string" &&
    typeof value["socket"] === "string"
  );
}

export function isSupervisorMessage(value: unknown): value is SupervisorMessage {
  return isRecord(value) && (value["deneb"] === "stop" || value["deneb"] === "reload");
}

export function isWorkerMessage(value: unknown): value is WorkerMessage {
  if (!isRecord(value)) return false;
  return value["deneb"] === "ready" || (value["deneb"] === "in-memory" && typeof value["events"] === "number");
}
