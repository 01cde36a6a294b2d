import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import type { TlsMaterial } from "../../core/management/security/read-security.js";

/** An answer of the stand-in; a body that is a text is sent as it is. */
export interface BrokerReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface SeenCall {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly connection: { readonly destroyed: boolean };
}

/** Undefined: the broker never answers; `cut`: it ends the connection instead. */
export type Replying = (call: SeenCall) => Reply | Promise<Reply>;

type Reply = BrokerReply | "cut" | undefined;

/** A server in place of a broker, until the test ends: it keeps the calls it sees and answers as told. */
export async function brokerStandIn(context: TestContext, replying: Replying, tls?: TlsMaterial) {
  const calls: SeenCall[] = [];
  const listener: RequestListener = async (request, response) => {
    const { method = "", url = "", headers } = request;
    const call = { method, url, headers, body: await text(request), connection: request.socket };
    calls.push(call);
    const reply = await replying(call);
    if (reply === undefined) return;
    if (reply === "cut") {
      request.socket.destroy();
      return;
    }
    const json = { "Content-Type": "application/json" };
    response.writeHead(reply.status, { ...(typeof reply.body === "object" ? json : {}), ...reply.headers });
    response.end(typeof reply.body === "object" ? JSON.stringify(reply.body) : reply.body);
  };
  const server =
    tls === undefined ? createServer(listener) : createTlsServer({ key: tls.key, cert: tls.cert }, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the stand-in has no port");
  const endpoint = {
    host: "127.0.0.1",
    port: String(address.port),
    ssl: tls === undefined ? "false" : "true",
    xauthtoken: "secret-token",
  };
  return { calls, endpoint };
}

/** A broker of NGSI v2 or NGSI-LD with subscriptions of these ids, as its API describes it. */
export function brokerWith(ids: readonly string[]): (call: SeenCall) => BrokerReply {
  return ({ method, url }) => {
    const { pathname, searchParams } = new URL(url, "http://broker");
    const [, collection = "", id] =
      /^(\/v2\/subscriptions|\/ngsi-ld\/v1\/subscriptions)(?:\/(.+))?$/.exec(pathname) ?? [];
    if (collection === "") return { status: 404, body: { error: "NotFound", description: "no such service" } };
    if (method === "POST") return { status: 201, headers: { Location: `${collection}/${ids[0]}` } };
    if (id === undefined) return page(ids, searchParams);
    if (!ids.includes(decodeURIComponent(id))) return { status: 404, body: notFound };
    return method === "DELETE"
      ? { status: 204 }
      : { status: 200, body: { id: decodeURIComponent(id), status: "active" } };
  };
}

const notFound = { error: "NotFound", description: "The requested subscription has not been found. Check id" };

function page(ids: readonly string[], query: URLSearchParams): BrokerReply {
  const offset = Number(query.get("offset") ?? 0);
  const window = ids.slice(offset, offset + Number(query.get("limit") ?? 20));
  const count = String(ids.length);
  return {
    status: 200,
    headers: { "Fiware-Total-Count": count, "NGSILD-Results-Count": count },
    body: window.map((id) => ({ id, status: "active" })),
  };
}
