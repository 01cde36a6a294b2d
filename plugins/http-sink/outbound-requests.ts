import type { Event } from "deneb/sdk";
import type { HttpSinkConfig } from "./config.js";
import { bodyText, entityKey, filled, headerText, parseTemplate, type Template, urlText } from "./template.js";

/** One request to send, for one event or for all events of a batch with the same URL and headers. */
export interface OutboundRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly events: readonly Event[];
}

/** Requests that must be sent one after another. */
export type Lane = readonly OutboundRequest[];

/** Creates the requests for events from the templates of the configuration. */
export class RequestWriter {
  readonly #config: HttpSinkConfig;
  readonly #url: Template;
  readonly #body: Template;
  readonly #batchBody: Template;
  readonly #headers: readonly (readonly [name: string, template: Template])[];

  constructor(config: HttpSinkConfig) {
    this.#config = config;
    this.#url = parseTemplate(config.url);
    this.#body = parseTemplate(config.body);
    this.#batchBody = parseTemplate(config.batch_body);
    this.#headers = Object.entries(config.headers).map(([name, text]) => [name, parseTemplate(text)]);
  }

  /** One lane for each entity, or for each URL with the same headers of a batch. Throws for an event that the templates cannot express. */
  lanes(events: readonly Event[]): readonly Lane[] {
    const written = events.map((event) => this.#request(event));
    if (this.#config.send === "event") return grouped(written, ({ events: [event] }) => event && entityKey(event));
    const sameTarget = grouped(written, ({ url, headers }) => JSON.stringify([url, headers]));
    return sameTarget.map((requests) => [this.#joined(requests)]);
  }

  #request(event: Event): OutboundRequest {
    return {
      url: urlText(this.#url, event),
      headers: Object.fromEntries(this.#headers.map(([name, template]) => [name, headerText(template, event)])),
      body: bodyText(this.#body, event),
      events: [event],
    };
  }

  #joined(requests: readonly OutboundRequest[]): OutboundRequest {
    const bodies = requests.map(({ body }) => body).join(this.#config.batch_separator);
    return {
      url: requests[0]?.url ?? "",
      headers: requests[0]?.headers ?? {},
      body: filled(this.#batchBody, () => bodies),
      events: requests.flatMap(({ events }) => events),
    };
  }
}

function grouped(
  requests: readonly OutboundRequest[],
  keyOf: (request: OutboundRequest) => string | undefined,
): readonly Lane[] {
  const groups = new Map<string | undefined, OutboundRequest[]>();
  for (const request of requests) {
    const key = keyOf(request);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [request]);
    else group.push(request);
  }
  return [...groups.values()];
}
