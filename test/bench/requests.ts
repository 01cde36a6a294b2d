import { forms } from "./forms.js";
import { type BodyShape, entitiesOfEach, notificationBodies } from "./notifications.js";
import { surveyedRequests } from "./recorded.js";

/** One request of a load. */
export interface BenchRequest {
  readonly method: string;
  readonly path: string;
  /** In order, as they are sent; without Host, Content-Length and Connection. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** Events that the agent makes of it. */
  readonly events: number;
}

/** Requests that a broker has sent: a file that a survey wrote. */
export interface RecordedBodies {
  readonly recorded: string;
}

/** What a load is made of. */
export type LoadBodies = BodyShape | RecordedBodies;

/** The requests of a load, which goes over them again and again. */
export function requestsOf(bodies: LoadBodies, service: string): readonly BenchRequest[] {
  if ("recorded" in bodies) return surveyedRequests(bodies.recorded);
  const { services = 1 } = bodies;
  const names = Array.from({ length: services }, (_, at) => (services === 1 ? service : `${service}_${at}`));
  const headersOf = names.map((name) => Object.entries(forms[bodies.format].headers(name)));
  const each = entitiesOfEach(bodies);
  return notificationBodies(bodies).map((body, index) => {
    const events = Math.min(each, bodies.entities - index * each);
    return { method: "POST", path: "/notify", headers: headersOf[index % services] ?? [], body, events };
  });
}

/** The API of the bodies, as the handler of the agent names it. */
export function apiOf(bodies: LoadBodies): "ld" | "v2" | "auto" {
  return "recorded" in bodies ? "auto" : forms[bodies.format].api;
}

/** The bytes of a request on a connection that is kept; the path of the address is that of the request. */
export function wireOf({ method, path, headers, body }: BenchRequest, url: string): Buffer {
  const own = headers.filter(([name]) => !/^(host|content-length|connection|transfer-encoding)$/i.test(name));
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    ...own.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** Events of one request: of the poorest, of the richest, and on the average of all. */
export interface EventsOfRequest {
  readonly fewest: number;
  readonly most: number;
  readonly mean: number;
}

export function eventsOfRequest(requests: readonly BenchRequest[]): EventsOfRequest {
  const counts = requests.map(({ events }) => events);
  const sum = counts.reduce((total, events) => total + events, 0);
  return {
    fewest: counts.reduce((least, events) => Math.min(least, events), Number.POSITIVE_INFINITY),
    most: counts.reduce((most, events) => Math.max(most, events), 0),
    mean: sum / counts.length,
  };
}
