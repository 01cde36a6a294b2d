import { eventHeaders } from "../ngsi/index.js";
import type { InboundRequest, Sender, SourceRefusal } from "../sdk/index.js";

/** Where a refused request went, for log lines; a part that nobody named is absent. */
export interface Addressee {
  readonly topic?: string;
  readonly path?: string;
  readonly service?: string;
}

/** Of a topic the path is the same for all messages. The service is what the handler read, else what the headers say. */
export function addresseeOf({ topic, path, headers }: InboundRequest, { service }: Sender): Addressee {
  const named = service === "" ? (headers[eventHeaders.service] ?? headers[TENANT]) : service;
  return cleaned({ ...(topic === undefined ? { path } : { topic }), service: named });
}

/** The parts as log lines show them: short, in one line, and without the query of a path, which may hold a secret. */
export function cleaned({ topic, path, service }: Pick<SourceRefusal, "topic" | "path" | "service">): Addressee {
  return {
    ...(topic ? { topic: shown(topic) } : {}),
    ...(path ? { path: shown(path.replace(/\?.*$/s, "")) } : {}),
    ...(service ? { service: shown(service) } : {}),
  };
}

const TENANT = "ngsild-tenant";
const MOST_CHARACTERS = 200;

function shown(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
}
