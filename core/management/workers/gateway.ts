import { request as ask, type RequestListener } from "node:http";
import type { Logger } from "../../sdk/index.js";
import type { ManagementAccess } from "../management-app.js";

/** A worker as the supervisor knows it. */
export interface WorkerView {
  /** From 1. */
  readonly number: number;
  readonly state: "starting" | "running" | "restarting" | "stopping";
  readonly pid: number | undefined;
  /** Of the state. */
  readonly since: Date;
  /** Why it is started again; undefined otherwise. */
  readonly reason: string | undefined;
  /** False for one that only stores what an earlier, larger number of workers left. */
  readonly receives: boolean;
  /** Path of the unix socket of its management interface. */
  readonly socket: string;
}
export interface Team {
  readonly workers: readonly WorkerView[];
}
export interface GatewayParts {
  readonly team: Team;
  readonly version: string;
  readonly access: ManagementAccess;
  readonly tokens: { readonly read: string; readonly admin: string } | undefined;
  readonly log: Logger;
}
/** What answers, and what ends the answers that would never end. */
export interface Gateway {
  readonly app: RequestListener;
  end(): void;
}
export function gateway({ team }: GatewayParts): Gateway {
  return {
    app: (request, response) => {
      const n = Number(/^\/workers\/(\d+)/.exec(request.url ?? "")?.[1] ?? 1);
      const url = (request.url ?? "").replace(/^\/workers\/\d+/, "");
      const worker = team.workers.find((one) => one.number === n);
      const out = ask(
        { socketPath: worker?.socket ?? "", path: url, method: request.method, headers: request.headers },
        (a) => {
          response.writeHead(a.statusCode ?? 500, a.headers);
          a.pipe(response);
        },
      );
      out.on("error", (e) => response.writeHead(503).end(String(e)));
      request.pipe(out);
    },
    end: () => {},
  };
}
