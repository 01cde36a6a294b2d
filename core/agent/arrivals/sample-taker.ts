import { eventHeaders } from "../../ngsi/index.js";
import type { ArrivalRefusal, ArrivalTaker } from "../../pipeline/arrival-switch.js";
import { subjectOf } from "../../pipeline/dead-letters/choice.js";
import {
  codeOf,
  type DecodedRequest,
  type Event,
  type InboundRequest,
  reasonOf,
  type SourceRefusal,
} from "../../sdk/index.js";
import { refusedByChannels } from "../../sdk/source.js";
import type { Agent } from "../agent.js";
import type { Assembly } from "../component.js";
import { configuredSecrets, Masking } from "./masking.js";
import type { Arrived, ArrivedEntity } from "./sampled-arrival.js";

/** What is kept of what arrives, and for how long. */
export interface SampleOptions {
  readonly seconds: number;
  /** Most characters of a body that are kept. */
  readonly bytes: number;
  readonly result: "all" | "accepted" | "refused";
  readonly source?: string;
  readonly service?: string;
  /** A part of the id of one of its entities. */
  readonly entity?: string;
}

interface SampleTakerParts {
  readonly options: SampleOptions;
  readonly agent: () => Pick<Agent, "assembly">;
  /** Called for each request; whether one more that fits may be kept now. */
  readonly mayTake: (result: Arrived["result"], fits: () => boolean) => boolean;
  readonly take: (arrived: Arrived) => void;
  readonly now: () => Date;
}

const MOST_ENTITIES = 20;
/** Events that a source made by itself have no body as sent; those that are shown instead. */
const MOST_EVENTS = 5;
const TENANT = "ngsild-tenant";
const NO_EVENTS: readonly Event[] = [];

/** What the options ask for. */
interface Judged {
  readonly result: Arrived["result"];
  readonly source: string;
  readonly service: string | undefined;
  readonly events: readonly Event[];
  readonly body: Uint8Array | undefined;
}

/** Looks at requests for a sample; whatever is wrong with one must not reach its source. */
export class SampleTaker implements ArrivalTaker {
  readonly #parts: SampleTakerParts;
  #assembly: Assembly | undefined;
  #masking = new Masking([]);

  constructor(parts: SampleTakerParts) {
    this.#parts = parts;
  }

  accepted(source: string, request: InboundRequest, { events, service, servicePath }: DecodedRequest): void {
    const judged = { result: "accepted", source, service, events, body: request.body } as const;
    this.#offer(judged, () => ({ ...ofRequest(request), servicePath }));
  }

  refused(source: string, request: InboundRequest, { sender, ...refusal }: ArrivalRefusal): void {
    const { headers, body } = request;
    const service = sender.service === "" ? (headers[eventHeaders.service] ?? headers[TENANT]) : sender.service;
    const judged = { result: "refused", source, service, events: NO_EVENTS, body } as const;
    this.#offer(judged, () => ({ ...ofRequest(request), ...refusal, servicePath: sender.servicePath }));
  }

  turnedAway(source: string, { status, cause, reason, requestBytes = 0, topic, path, service }: SourceRefusal): void {
    const judged = { result: "refused", source, service, events: NO_EVENTS, body: undefined } as const;
    this.#offer(judged, () => ({
      time: this.#parts.now(),
      ...{ status, cause, reason, size: requestBytes },
      ...(topic === undefined ? {} : { topic }),
      ...(path === undefined ? {} : { path }),
    }));
  }

  emitted(source: string, events: readonly Event[], emitting: Promise<void>): void {
    const offer = (result: Arrived["result"], refusal: object) =>
      this.#offer({ result, source, service: undefined, events, body: undefined }, () => ({
        time: this.#parts.now(),
        ...bodyOf(events),
        ...refusal,
      }));
    emitting.then(
      () => offer("accepted", {}),
      (error: unknown) => {
        const { status, cause } = refusedByChannels(error);
        const reason = codeOf(error) === undefined ? "the events could not be put" : reasonOf(error);
        offer("refused", { status, cause, reason });
      },
    );
  }

  #offer(judged: Judged, sent: () => Sent): void {
    const { options, mayTake, take } = this.#parts;
    const { result, source, service, events } = judged;
    try {
      if (!mayTake(result, () => fits(judged, options))) return;
      take({
        ...sent(),
        ...{ result, source },
        ...(service === undefined ? {} : { service }),
        entities: events.slice(0, MOST_ENTITIES).map(entityOf),
        entityCount: events.length,
        bytes: options.bytes,
        masking: this.#currentMasking(),
      });
    } catch {
      // Events of strangers may be anything; what cannot be shown is left out.
    }
  }

  /** A reload may bring other secrets. */
  #currentMasking(): Masking {
    const { assembly } = this.#parts.agent();
    if (assembly !== this.#assembly) {
      this.#assembly = assembly;
      this.#masking = new Masking(configuredSecrets(assembly));
    }
    return this.#masking;
  }
}

type Sent = Omit<Arrived, "result" | "source" | "service" | "entities" | "entityCount" | "bytes" | "masking">;

function ofRequest({ method, path, topic, headers, body, receivedAt }: InboundRequest) {
  const common = { time: receivedAt, method, path, headers, body, size: body.byteLength };
  return topic === undefined ? common : { ...common, topic };
}

function bodyOf(events: readonly Event[]) {
  const body = Buffer.from(JSON.stringify(events.slice(0, MOST_EVENTS).map((event) => event.body)) ?? "");
  return { body, size: body.byteLength };
}

function entityOf(event: Event): ArrivedEntity {
  const { entityId: id, entityType: type } = subjectOf({ event });
  return { ...(id === undefined ? {} : { id }), ...(type === undefined ? {} : { type }) };
}

function fits(judged: Judged, { result, source, service, entity }: SampleOptions): boolean {
  if (result !== "all" && judged.result !== result) return false;
  if (source !== undefined && judged.source !== source) return false;
  if (service !== undefined && judged.service !== service) return false;
  if (entity === undefined) return true;
  const { events, body } = judged;
  if (events.some((event) => entityOf(event).id?.includes(entity) === true)) return true;
  // Of what was refused nobody knows the entities.
  return judged.result === "refused" && body !== undefined && Buffer.from(body).includes(entity);
}
