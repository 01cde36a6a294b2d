import { randomUUID } from "node:crypto";
import { correlatorOf, decodeLd, type Entity, eventHeaders, formatHintOf, linkOf, serviceOf } from "deneb/ngsi";
import { codeOf, type Decoded, type Delivery, type Handler, RejectedDelivery } from "deneb/sdk";
import { checkRequest, readText } from "./acceptance.js";
import { type HandlerConfig, SERVICE_LENGTH } from "./config.js";
import { refused } from "./refused.js";

const decoders = { ld: decodeLd } satisfies Record<HandlerConfig["ngsi_version"], typeof decodeLd>;

/** NGSI-LD has no service path. */
const SERVICE_PATH = "/";

export class NgsiRestHandler implements Handler {
  readonly #config: HandlerConfig;

  constructor(config: HandlerConfig) {
    this.#config = config;
  }

  decode(delivery: Delivery): Decoded {
    try {
      return this.#decode(delivery);
    } catch (error) {
      throw error instanceof RejectedDelivery ? this.#withSender(error, delivery) : error;
    }
  }

  #decode(delivery: Delivery): Decoded {
    checkRequest(delivery, this.#config.notification_target);
    const service = this.#service(delivery);
    const entities = this.#entities(delivery);
    const headers = sharedHeaders(delivery, service);
    return { events: entities.map((body) => ({ headers, body })), service, servicePath: SERVICE_PATH };
  }

  #withSender({ status, message, headers }: RejectedDelivery, delivery: Delivery): RejectedDelivery {
    const service = serviceOf(delivery.headers, this.#config.default_service);
    const sender = service.length <= SERVICE_LENGTH ? { service, servicePath: SERVICE_PATH } : undefined;
    return new RejectedDelivery(status, message, headers, sender);
  }

  #service({ headers }: Delivery): string {
    const service = serviceOf(headers, this.#config.default_service);
    if (service.length <= SERVICE_LENGTH) return service;
    throw refused(400, `'fiware-service' header length greater than ${SERVICE_LENGTH}`);
  }

  #entities({ body, headers }: Delivery): readonly Entity[] {
    const text = readText(body);
    try {
      return decoders[this.#config.ngsi_version](text, formatHintOf(headers)).entities;
    } catch (error) {
      throw error instanceof Error && isBadBody(error) ? refused(400, error.message) : error;
    }
  }
}

function isBadBody(error: Error): boolean {
  const code = codeOf(error);
  return code === "MALFORMED_JSON" || code === "NOT_A_NOTIFICATION";
}

/** One object for all events of a delivery. */
function sharedHeaders({ headers, receivedAt }: Delivery, service: string): Readonly<Record<string, string>> {
  const transactionId = randomUUID();
  const link = linkOf(headers);
  return {
    [eventHeaders.service]: service,
    [eventHeaders.servicePath]: SERVICE_PATH,
    [eventHeaders.correlator]: correlatorOf(headers, transactionId),
    [eventHeaders.transactionId]: transactionId,
    [eventHeaders.timestamp]: String(receivedAt.getTime()),
    ...(link === undefined ? {} : { [eventHeaders.link]: link }),
  };
}
