import { readFile } from "node:fs/promises";
import path from "node:path";
import type { TestContext } from "node:test";
import { agentContainer } from "../../core/agent/container.js";
import { type EditedText, editedFile } from "../../core/files/edited-text.js";
import { managementApp } from "../../core/management/management-app.js";
import { ManagementServer } from "../../core/management/management-server.js";
import { testLogging } from "./logging.js";
import { recordingLog } from "./recording-log.js";
import { partsOf } from "./running-management.js";
import { tempFolder } from "./temp-folder.js";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A management interface over an agent without components; its files are in a folder of its own. */
export async function startManagement(context: TestContext, nameMappings?: EditedText) {
  const folder = await tempFolder(context);
  const console: string[] = [];
  const { log } = recordingLog();
  const logging = await testLogging(folder, { console });
  const topology = { agent: "a", sources: [], channels: [], sinks: [] };
  const container = agentContainer({ topology, dataDir: folder, loggers: { of: () => log } });
  const mappingsFile = path.join(folder, "mappings.json");
  const app = managementApp({
    ...partsOf(container),
    version: "1",
    logging,
    nameMappings: nameMappings ?? editedFile(mappingsFile),
    log,
  });
  const server = new ManagementServer(app, { host: "127.0.0.1", port: 0 }, log);
  await server.start();
  context.after(() => server.stop(AbortSignal.abort()));
  const call = async (method: string, target: string, body?: unknown): Promise<Answer> => {
    const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    const init = text === undefined ? { method } : { method, body: text, headers: { "Content-Type": "text/x-odd" } };
    const response = await fetch(`http://127.0.0.1:${server.port}${target}`, init);
    return { status: response.status, body: await response.json() };
  };
  const read = (name: string) => readFile(path.join(folder, name), "utf8");
  return { folder, console, logging, mappingsFile, call, read };
}

export function ok(payload: object): Answer {
  return { status: 200, body: { success: "true", ...payload } };
}

export function refused(payload: object, status = 400): Answer {
  return { status, body: { success: "false", ...payload } };
}
