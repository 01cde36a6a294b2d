import type { RequestListener } from "node:http";
import type { Logger } from "../../sdk/index.js";
import { LiveStream } from "../live/live-stream.js";
import { type ManagementAccess, managementFront } from "../management-front.js";
import { GatewayMetrics } from "./gateway-metrics.js";
import { LiveWorkers } from "./live/live-workers.js";
import { readdressed } from "./one-worker.js";
import { PassThrough } from "./pass-through.js";
import { ruleRouter } from "./rule-router.js";
import { allRules } from "./rules.js";
import type { Team } from "./team.js";

interface GatewayParts {
  readonly team: Team;
  readonly version: string;
  readonly access: ManagementAccess;
  readonly log: Logger;
  /** Milliseconds that a worker takes at most for a call of a broker. */
  readonly brokerMillis: number;
}

/** What answers, and what ends the answers that would never end. */
interface Gateway {
  readonly app: RequestListener;
  end(): void;
}

/**
 * The management interface of a supervisor: one of those of all its workers. Tokens are checked here; a worker gets calls
 * over a socket that nobody else reaches.
 */
export function gateway(parts: GatewayParts): Gateway {
  const { rules, metrics, through, end } = gatewayRules(parts);
  const countWrongToken = () => metrics.countWrongToken();
  const router = ruleRouter(rules, parts.team, through);
  const app = managementFront({ ...parts, countWrongToken, readdress: readdressed }, [router]);
  return { app, end };
}

/** The rules of all calls, and what they work with. */
export function gatewayRules({ team, version, log, brokerMillis }: GatewayParts) {
  const through = new PassThrough(brokerMillis);
  const metrics = new GatewayMetrics();
  const started = new Date(Math.round(performance.timeOrigin)).toISOString();
  const live = new LiveWorkers(team, started);
  const stream = new LiveStream({ source: live, log });
  const rules = allRules({ through, metrics, version, started, stream, live });
  const end = () => {
    stream.end();
    through.end();
  };
  return { rules, metrics, through, end };
}
