import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/** What may be read while the components start. */
const early: ReadonlySet<string> = new Set(["/live", "/ready", "/metrics", "/v1/version"]);

/**
 * Answers on the port of the management interface from before the first component starts. Until the interface is loaded the
 * process lives and is not ready; until the agent has started nothing of it can be changed.
 */
export class Starting {
  readonly #since: Date;
  #app: RequestListener | undefined;
  #open = false;

  constructor(since: Date) {
    this.#since = since;
  }

  readonly listener: RequestListener = (request, response) => {
    const isEarly = request.method === "GET" && early.has(pathOf(request));
    if (this.#app !== undefined && (this.#open || isEarly)) this.#app(request, response);
    else this.#answer(request, response);
  };

  /** The interface is loaded, and the agent still starts. */
  load(app: RequestListener): void {
    this.#app = app;
  }

  /** The agent has started. */
  open(app: RequestListener): void {
    this.#app = app;
    this.#open = true;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = pathOf(request);
    if (request.method === "GET" && path === "/live") {
      respond(request, response, 200, { status: "live" });
      return;
    }
    const reason = "the agent starts";
    const obstacle = { component: "agent", reason, since: this.#since.toISOString() };
    if (request.method === "GET" && path === "/ready") {
      respond(request, response, 503, { status: "not ready", obstacles: [obstacle] });
      return;
    }
    response.setHeader("Retry-After", "1");
    respond(request, response, 503, { success: "false", error: `${reason}; try again in a moment` });
  }
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "";
}

function respond(request: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  const correlator = request.headers["fiware-correlator"];
  response.setHeader(
    "Fiware-Correlator",
    typeof correlator === "string" && correlator !== "" ? correlator : randomUUID(),
  );
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.writeHead(status).end(JSON.stringify(body));
}
