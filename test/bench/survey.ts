import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startAgentProcess } from "./agent-process.js";
import { agentCase } from "./case.js";
import { post } from "./post.js";
import { type RecordedRequest, recordedRequests } from "./recorded.js";
import type { RecordedBodies } from "./requests.js";
import { storeOf } from "./store.js";
import { unwinding } from "./unwinding.js";

/** A file of recorded requests, with what an agent makes of each of them. */
export interface Survey {
  /** Name of the file. */
  readonly name: string;
  readonly bodies: RecordedBodies;
  /** Requests that are sent. */
  readonly requests: number;
  /** Events of them together. */
  readonly events: number;
  /** Requests that the agent refuses, which are not sent. */
  readonly refused: number;
}

/** Posts each recorded request once to an agent and hands on those that it takes, with the number of their events. */
export async function withSurveys<T>(
  files: readonly string[],
  work: (surveys: readonly Survey[]) => Promise<T>,
): Promise<T> {
  const recorded = files.map((file) => ({ file, requests: recordedRequests(file) }));
  if (recorded.length === 0) return await work([]);
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-bench-recorded-"));
  const clear = async () => await rm(folder, { recursive: true, force: true });
  return await unwinding(clear, async () => {
    const surveys: Survey[] = [];
    for (const [index, { file, requests }] of recorded.entries()) {
      const taken = await takenBy(path.join(folder, String(index)), requests);
      const bodies = { recorded: path.join(folder, `${index}.ndjson`) };
      await writeFile(bodies.recorded, taken.map((request) => JSON.stringify(request)).join("\n"));
      surveys.push({
        name: path.basename(file),
        bodies,
        requests: taken.length,
        events: taken.reduce((sum, { events = 0 }) => sum + events, 0),
        refused: requests.length - taken.length,
      });
      if (taken.length === 0) throw new Error(`an agent takes none of the requests of ${file}`);
    }
    return await work(surveys);
  });
}

/** One after the other, so that the ledger says of each what it held. */
async function takenBy(folder: string, requests: readonly RecordedRequest[]): Promise<readonly RecordedRequest[]> {
  const made = agentCase({ database: "sqlite", channel: "memory", batchSize: 1, entities: 1 });
  const bench = { ...made, buffer: { capacity: "1000000" }, bodies: { recorded: "" } };
  const store = await storeOf("sqlite", path.join(folder, "data"));
  const { notifyUrl, server, ledger } = await startAgentProcess({ bench, folder, store });
  return await unwinding(server.stop, async () => {
    const taken: RecordedRequest[] = [];
    let before = 0;
    for (const request of requests) {
      const status = await post(notifyUrl, { ...request, events: 0 });
      const { received } = await ledger();
      if (status === 200) taken.push({ ...request, events: received - before });
      before = received;
    }
    return taken;
  });
}
