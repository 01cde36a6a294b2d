import { correlatorOf, decode, type Entity, eventHeaders, linkOf, serviceOf } from "deneb/ngsi";
import {
  codeOf,
  type DecodedRequest,
  type Event,
  type Handler,
  type InboundRequest,
  RejectedRequest,
  type Sender,
} from "deneb/sdk";
import { checkHeaders, checkRequest, readText } from "./acceptance.js";
import { type HandlerConfig, SERVICE_LENGTH } from "./config.js";
import { type RefusalKind, refused } from "./refused.js";
import { senderOf } from "./sender.js";
import { servicePathsFor } from "./service-paths.js";
import { TransactionIds } from "./transaction-ids.js";

export class NgsiRestHandler implements Handler {
  readonly #config: HandlerConfig;
  readonly #transactions = new TransactionIds();

  constructor(config: HandlerConfig) {
    this.#config = config;
  }

  /** A refusal carries the sender, so that it is counted under its service. */
  decode(request: InboundRequest): DecodedRequest {
    try {
      return this.#decode(request);
    } catch (error) {
      if (!(error instanceof RejectedRequest)) throw error;
      const { status, message, headers, kind } = error;
      throw new RejectedRequest(status, message, headers, senderOf(request.headers, this.#config), kind);
    }
  }

  #decode(request: InboundRequest): DecodedRequest {
    checkRequest(request, this.#config.notification_target);
    checkHeaders(request, this.#config.max_header_length);
    const service = this.#service(request);
    const entities = this.#entities(request);
    const paths = servicePathsFor(entities, request.headers, this.#config.default_service_path);
    const servicePath = paths[0] ?? "/";
    const events = eventsOf(entities, paths, this.#sharedHeaders(request, { service, servicePath }));
    return { events, service, servicePath };
  }

  #service({ headers }: InboundRequest): string {
    const service = serviceOf(headers, this.#config.default_service);
    if (service.length <= SERVICE_LENGTH) return service;
    throw refused("service", `'fiware-service' header length greater than ${SERVICE_LENGTH}`);
  }

  #entities({ body, headers }: InboundRequest): readonly Entity[] {
    const text = readText(body);
    try {
      return decode(this.#config.ngsi_version, text, headers, this.#config).entities;
    } catch (error) {
      throw error instanceof Error ? refusalOf(error) : error;
    }
  }

  /** What all events of a request have in common, and the service path of the first. */
  #sharedHeaders({ headers, receivedAt }: InboundRequest, { service, servicePath }: Sender): Headers {
    const transactionId = this.#transactions.next();
    const link = linkOf(headers);
    const shared = {
      [eventHeaders.service]: service,
      [eventHeaders.servicePath]: servicePath,
      [eventHeaders.correlator]: correlatorOf(headers, transactionId),
      [eventHeaders.transactionId]: transactionId,
      [eventHeaders.timestamp]: String(receivedAt.getTime()),
    };
    return link === undefined ? shared : { ...shared, [eventHeaders.link]: link };
  }
}

/** The error itself unless the body is the reason. */
function refusalOf(error: Error): Error {
  const refusal = badBodies.get(codeOf(error));
  return refusal === undefined ? error : refused(refusal.kind, error.message, refusal);
}

/** The answers to the errors of a body. */
const badBodies: ReadonlyMap<string | undefined, { readonly kind: RefusalKind; readonly status?: number }> = new Map([
  ["MALFORMED_JSON", { kind: "content" }],
  ["NOT_A_NOTIFICATION", { kind: "not-a-notification" }],
  ["LIMIT_EXCEEDED", { kind: "limit" }],
  ["CONTENT_TOO_LARGE", { kind: "limit", status: 413 }],
]);

type Headers = Event["headers"];

/** Each entity with its path; consecutive entities with the same path share one object of headers. */
function eventsOf(entities: readonly Entity[], paths: readonly string[], shared: Headers): readonly Event<Entity>[] {
  let last: Headers = shared;
  return entities.map((body, index) => {
    const path = paths[index] ?? "/";
    if (last[eventHeaders.servicePath] !== path) last = { ...shared, [eventHeaders.servicePath]: path };
    return { headers: last, body };
  });
}
