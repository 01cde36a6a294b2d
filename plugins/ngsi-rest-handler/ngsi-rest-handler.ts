import { getHeapStatistics } from "node:v8";
import {
  correlatorOf,
  type DecodeOptions,
  decode,
  type Entity,
  eventHeaders,
  type HeaderFields,
  keepNotification,
  linkOf,
  type Notification,
  serviceOf,
  servicePathsOf,
} from "deneb/ngsi";
import {
  codeOf,
  type DecodedRequest,
  type Handler,
  type InboundRequest,
  RejectedRequest,
  type Sender,
} from "deneb/sdk";
import { checkHeaders, checkRequest, readText } from "./acceptance.js";
import { type HandlerConfig, isPath, PATH_LENGTH, SERVICE_LENGTH } from "./config.js";
import { type RefusalKind, refused } from "./refused.js";
import { LastText, Sequence, TransactionIds } from "./request-numbers.js";

/** Bytes of the heap that an agent takes without events, the halves of the young generation included. */
const HEAP_OF_AGENT = 83_886_080;
/** Of what is left of the heap limit; sinks have the other half. */
const SHARE_OF_HEAP = 1 / 2;
const LEAST_HEAP = 8_388_608;

/** One for all handlers of the process, so that events of two sources, and those after a reload, are in order too. */
const agentSequence = new Sequence();

export class NgsiRestHandler implements Handler {
  readonly #config: HandlerConfig;
  readonly #limits: DecodeOptions;
  readonly #sequence: Sequence;
  readonly #sequenceTexts = new LastText();
  readonly #timeTexts = new LastText();
  readonly #transactions = new TransactionIds();

  /** `heap`: the limit of that of the process, in bytes. */
  constructor(config: HandlerConfig, sequence: Sequence = agentSequence, heap = getHeapStatistics().heap_size_limit) {
    this.#config = config;
    this.#limits = { ...config, heap: Math.max(LEAST_HEAP, (heap - HEAP_OF_AGENT) * SHARE_OF_HEAP) };
    this.#sequence = sequence;
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

  senderOf({ headers }: InboundRequest): Sender | undefined {
    return senderOf(headers, this.#config);
  }

  #decode(request: InboundRequest): DecodedRequest {
    checkRequest(request, this.#config.notification_target);
    checkHeaders(request, this.#config.max_header_length);
    const service = this.#service(request);
    const notification = this.#notification(request);
    const { entities } = notification;
    const paths = servicePathsFor(entities, request.headers, this.#config.default_service_path);
    const servicePath = paths[0] ?? "/";
    const shared = this.#sharedHeaders(request, notification, { service, servicePath });
    const [only] = entities;
    if (only !== undefined && entities.length === 1) {
      shared[eventHeaders.sequence] = this.#nextSequence(request);
      return { events: [{ headers: shared, body: only }], service, servicePath };
    }
    const events = entities.map((body, index) => {
      const path = paths[index] ?? "/";
      const sequence = this.#nextSequence(request);
      return { headers: { ...shared, [eventHeaders.servicePath]: path, [eventHeaders.sequence]: sequence }, body };
    });
    return { events, service, servicePath };
  }

  #nextSequence({ receivedAt }: InboundRequest): string {
    return this.#sequenceTexts.ofGrowing(this.#sequence.next(receivedAt));
  }

  #service({ headers }: InboundRequest): string {
    const service = serviceOf(headers, this.#config.default_service);
    if (service.length <= SERVICE_LENGTH) return service;
    throw refused("service", `'fiware-service' header length greater than ${SERVICE_LENGTH}`);
  }

  #notification({ body, headers }: InboundRequest): Notification {
    const text = readText(body);
    const { ngsi_version: version, attrs_format } = this.#config;
    try {
      const notification = decode(version, text, headers, this.#limits);
      keepNotification(notification, text, { version, headers, attrs_format });
      return notification;
    } catch (error) {
      throw error instanceof Error ? refusalOf(error) : error;
    }
  }

  /** What all events of a request have in common, the service path of the first, and room for the sequence. */
  #sharedHeaders(
    { headers, receivedAt }: InboundRequest,
    { subscriptionId, notifiedAt }: Notification,
    { service, servicePath }: Sender,
  ): Record<string, string> {
    const transactionId = this.#transactions.next();
    // Members are added one by one: spreading several objects takes ten times as long.
    const shared: Record<string, string> = {
      [eventHeaders.service]: service,
      [eventHeaders.servicePath]: servicePath,
      [eventHeaders.correlator]: correlatorOf(headers, transactionId),
      [eventHeaders.transactionId]: transactionId,
      [eventHeaders.timestamp]: this.#timeTexts.of(receivedAt.getTime()),
      [eventHeaders.sequence]: "",
    };
    const link = linkOf(headers);
    if (this.#fits(subscriptionId)) shared[eventHeaders.subscriptionId] = subscriptionId;
    if (this.#fits(notifiedAt)) shared[eventHeaders.notifiedAt] = notifiedAt;
    if (link !== undefined) shared[eventHeaders.link] = link;
    return shared;
  }

  /** Each event repeats it, so a long text is left out. */
  #fits(text: string | undefined): text is string {
    return text !== undefined && text.length <= this.#config.max_header_length;
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

/** NGSI-LD has no service path. */
const none: readonly string[] = [];

/** The service path of each entity: the only one of the request, or the one at the same index. None: each has "/". */
function servicePathsFor(entities: readonly Entity[], headers: HeaderFields, defaultPath: string): readonly string[] {
  if (!entities.some(({ api }) => api === "v2")) return none;
  const paths = servicePathsOf(headers, defaultPath);
  for (const path of paths) checkPath(path);
  if (paths.length === entities.length) return paths;
  const [only = defaultPath, ...others] = paths;
  if (others.length === 0) return entities.map(() => only);
  throw refused(
    "service-path",
    "'fiware-servicepath' header value does not match the number of notified context responses",
  );
}

function checkPath(path: string): void {
  if (path.length > PATH_LENGTH) {
    throw refused("service-path", `'fiware-servicepath' header length greater than ${PATH_LENGTH} for ${path}`);
  }
  if (!path.startsWith("/"))
    throw refused("service-path", `'fiware-servicepath' header value ${path} must start with '/'`);
}

/** The sender according to the headers alone; undefined when the service is not acceptable. */
function senderOf(headers: HeaderFields, config: HandlerConfig): Sender | undefined {
  const service = serviceOf(headers, config.default_service);
  if (service.length > SERVICE_LENGTH) return undefined;
  const paths = config.ngsi_version === "ld" ? [] : servicePathsOf(headers, config.default_service_path);
  const [path = "/"] = paths;
  return { service, servicePath: isPath(path) ? path : "/" };
}
