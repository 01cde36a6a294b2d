import type { RequestListener } from "node:http";
import type { Logger } from "../../sdk/index.js";
import { versionResource } from "../agent-resources.js";
import { guarded, type ManagementAccess } from "../guarded.js";
import { LiveStream } from "../live/live-stream.js";
import { arrivalsOfAll } from "./arrivals.js";
import { changesOfAll } from "./changes.js";
import { deadLettersOfAll } from "./dead-letters.js";
import { figuresOfAll, probesOfAll } from "./figures.js";
import { firstWorker, oneWorker } from "./forwarding.js";
import { LiveTeam } from "./live-team.js";
import { OwnMetrics } from "./own-metrics.js";
import { streamOfAll } from "./stream.js";
import type { Team, WorkerTokens } from "./team.js";
import { WorkerCalls } from "./worker-calls.js";

export interface GatewayParts {
  readonly team: Team;
  readonly version: string;
  readonly access: ManagementAccess;
  /** With which workers are called; undefined where callers need no token. */
  readonly tokens: WorkerTokens | undefined;
  readonly log: Logger;
}

/** What answers, and what ends the answers that would never end. */
export interface Gateway {
  readonly app: RequestListener;
  end(): void;
}

/** One management interface of all workers. What concerns the agent is put together; the rest the first worker answers. */
export function gateway({ team, version, access, tokens, log }: GatewayParts): Gateway {
  const calls = new WorkerCalls(team, tokens);
  const live = new LiveTeam(team, calls);
  const stream = new LiveStream({ source: live, log });
  const own = new OwnMetrics(team);
  const resources = [
    probesOfAll(team, calls),
    figuresOfAll(team, calls, own),
    streamOfAll(live, stream),
    deadLettersOfAll(calls),
    arrivalsOfAll(calls),
    changesOfAll(calls),
    oneWorker(team, calls),
    versionResource(version).router,
    firstWorker(calls),
  ];
  const app = guarded(resources, { access, log, countWrongToken: () => own.countWrongToken() });
  return {
    app,
    end: () => {
      stream.end();
      live.end();
    },
  };
}
