import type { TestContext } from "node:test";
import type { PastedRequest, RunningExplanation } from "../../core/agent/explain/explain-running.js";
import type { ReloadEnd } from "../../core/agent/reload.js";
import { MOST_LISTENERS } from "../../core/management/live/live-stream.js";
import { AgentError } from "../../core/sdk/index.js";
import { eventStream } from "../support/event-stream.js";

export type Ask = (
  method: string,
  path: string,
  body?: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<void>;

const end = (outcome: ReloadEnd["outcome"], ok: boolean) => ({ end: { time: new Date(), ok, outcome }, faults: [] });

/** Scripted parts: outcomes of reloads in turn, and explanations that are too many. */
export const dashboard = {
  ownConfiguration: {
    file: "agent.properties",
    read: () => ({ topology: undefined, agents: [], faults: [] }),
    text: textOnce(),
    reload: reloadOutcomes(),
    longestWait: 10,
  },
  explaining: {
    explain: async ({ source }: PastedRequest): Promise<RunningExplanation> => {
      if (source === undefined) return { events: [], refused: [], complete: true };
      const code = source === "busy" ? "TOO_MANY_EXPLANATIONS" : "NO_SUCH_SOURCE";
      throw new AgentError(code, "explaining", { retryable: false });
    },
  },
};

/** A file that can be read each second time. */
function textOnce(): () => string {
  let reads = 0;
  return () => {
    reads += 1;
    if (reads % 2 === 0) throw new Error("no such file");
    return "a.sources = s\n";
  };
}

function reloadOutcomes() {
  let calls = 0;
  const outcomes = [
    async () => end("reloaded", true),
    async () => end("failed", false),
    async () => undefined,
    () => new Promise<never>(() => {}),
  ];
  return async () => {
    calls += 1;
    return await outcomes[calls % outcomes.length]?.();
  };
}

interface Asked {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly ask: Ask;
}

/** Calls what a page calls, so that every status is answered once. */
export async function askDashboard(context: TestContext, { port, headers, ask }: Asked): Promise<void> {
  const url = `http://127.0.0.1:${port}/v1/stream`;
  const streams = Array.from({ length: MOST_LISTENERS }, () => eventStream(context, url, headers));
  for (const { close } of await Promise.all(streams)) context.after(close);
  await ask("GET", "/v1/stream");
  await ask("POST", "/v1/admin/explain", '{"body":"{}"}');
  for (const source of ["nobody", "busy"]) await ask("POST", "/v1/admin/explain", `{"body":"{}","source":"${source}"}`);
  await ask("GET", "/v1/admin/arrivals?limit=x");
  await ask("PUT", "/v1/admin/arrivals", '{"seconds":0}');
  for (let n = 0; n < 4; n += 1) await ask("POST", "/v1/admin/reload");
  for (let n = 0; n < 2; n += 1) await ask("GET", "/v1/configuration/properties");
}
