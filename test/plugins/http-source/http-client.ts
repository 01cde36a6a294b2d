import { once } from "node:events";
import { type Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";

export const notification =
  '{"id":"urn:n:1","type":"Notification","subscriptionId":"s","data":[' +
  '{"id":"urn:e:1","type":"T","p":{"type":"Property","value":1}}]}';

export interface Sending {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly content: string;
  /** Whether the request went over the connection of an earlier one. */
  readonly reused: boolean;
}

/** A POST of a notification to /notify, unless told otherwise. */
export async function send(port: number, sending: Sending = {}): Promise<Answer> {
  const { method = "POST", path = "/notify", body = notification } = sending;
  const headers = sending.headers ?? { "Content-Type": "application/json" };
  const outgoing = request({ host: "127.0.0.1", port, method, path, headers, agent: sending.agent ?? false });
  outgoing.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve);
    outgoing.once("error", reject);
  });
  const content = (await buffer(response)).toString();
  const closed = outgoing.closed ? undefined : once(outgoing, "close");
  await closed;
  return { status: response.statusCode, headers: response.headers, content, reused: outgoing.reusedSocket };
}
