import { setImmediate as nextTurn } from "node:timers/promises";
import { acceptedAtOnce, atOnce } from "../sdk/at-once.js";
import {
  type Accepted,
  type DecodedRequest,
  type Emit,
  type InboundRequest,
  type Logger,
  type Reception,
  type Refuse,
  type Refused,
  reasonOf,
  type Sender,
  type SourceRefusal,
} from "../sdk/index.js";
import { forgetTexts } from "../sdk/kept-text.js";
import { refusedByChannels } from "../sdk/source.js";
import { millisOf, type TransactionObserver } from "../tokens.js";
import { type ArrivalSwitch, nobodyLooks } from "./arrival-switch.js";
import { BodyTurns, LARGE, roomOfProcess, type SharedRoom } from "./body-turns.js";
import { CountedWarnings } from "./counted-warnings.js";
import {
  decodedBy,
  emptyRequest,
  type HandlerOfSource,
  malformedRequest,
  type Refusal,
  unknownSender,
} from "./decoded-by.js";
import { addresseeOf, cleaned, Refusals } from "./refusals.js";
import type { ServiceQuota } from "./service-quota.js";

/** One in this number of requests is answered in the next turn of the event loop, whatever the outcome. */
const IN_ONE_TURN = 1000;

interface ReceiverParts extends HandlerOfSource {
  readonly emit: Emit;
  /** Undefined where no service is limited. */
  readonly quota?: ServiceQuota | undefined;
  readonly observer: Pick<TransactionObserver, "received" | "refused">;
  readonly log: Logger;
  readonly arrivals?: ArrivalSwitch;
  /** Absent: that of the process. */
  readonly room?: SharedRoom;
  /** Fields of the trace of a request, for log lines; absent while tracing is off. */
  readonly traceFields?: (request: InboundRequest) => object;
  now(): Date;
}

/** Takes the requests of one source: decodes, emits, accounts, and keeps a trace of each that is refused. */
export class Receiver {
  readonly #parts: ReceiverParts;
  readonly #millis: () => number;
  readonly #warnings: CountedWarnings;
  readonly #refusals: Refusals;
  readonly #arrivals: ArrivalSwitch;
  readonly #small: BodyTurns;
  readonly #large: BodyTurns;
  #requests = 0;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    this.#millis = millisOf(parts.now);
    const { name, observer, log } = parts;
    const now = () => parts.now();
    this.#warnings = new CountedWarnings(parts);
    this.#refusals = new Refusals({ name, observer, log, warnings: this.#warnings, now });
    this.#arrivals = parts.arrivals ?? nobodyLooks;
    const { small, large } = parts.room ?? roomOfProcess;
    this.#small = new BodyTurns(small, false);
    this.#large = new BodyTurns(large, true);
  }

  /** The number of refused requests, including those that the source itself refused. */
  get refusals(): number {
    return this.#refusals.count;
  }

  /** Refusals because of what the service sent or holds. */
  get overQuota(): Refusals["overQuota"] {
    return this.#refusals.overQuota;
  }

  resetCounters(): void {
    this.#refusals.resetCounters();
  }

  /** The `receive` of the source's context. A body for whose events the heap has no room waits for its turn. */
  readonly receive = (request: InboundRequest, refuse: Refuse = withoutContent): Promise<Reception> => {
    const malformed = malformedRequest(this.#parts.name, request);
    if (malformed !== undefined)
      return inNextTurn(emptyRequest(this.#parts.now())).then((empty) => this.#refuse(empty, malformed, refuse));
    const turns = this.#turnsOf(request);
    if (turns.hasRoom(request.body.byteLength)) return this.#receive(request, refuse);
    return new Promise((resolve) => {
      const begin = () => resolve(request.connection?.isGone === true ? left : this.#receive(request, refuse));
      turns.wait(request.body.byteLength, begin);
    });
  };

  #turnsOf({ body }: InboundRequest): BodyTurns {
    return body.byteLength < LARGE ? this.#small : this.#large;
  }

  /**
   * A refusal is answered in the next turn of the event loop: a source that repeats the request at once must not block the process
   * (decision 0152).
   */
  #receive(request: InboundRequest, refuse: Refuse): Promise<Reception> {
    this.#requests += 1;
    try {
      const { quota, emit } = this.#parts;
      const usedUp = quota === undefined ? undefined : this.#usedUp(quota, request);
      if (usedUp !== undefined) return inNextTurn(this.#refuse(request, usedUp, refuse));
      const decoded = decodedBy(this.#parts, request);
      if ("refused" in decoded) return inNextTurn(this.#refuse(request, decoded, refuse));
      const { service, events } = decoded;
      const emitting = quota === undefined ? emit(events) : quota.counted(service, events.length, () => emit(events));
      if (emitting !== atOnce) return this.#receiving(emitting, { request, refuse, decoded });
      forgetTexts(events);
      this.#accepted(request, decoded);
      return this.#requests % IN_ONE_TURN === 0 ? inNextTurn(accepted) : acceptedAtOnce;
    } catch (error) {
      return inNextTurn(undefined).then(() => Promise.reject(error));
    }
  }

  // No async function: see `CountedPut`.
  #receiving(emitting: Promise<void>, { request, refuse, decoded }: Receiving): Promise<Reception> {
    const turns = this.#turnsOf(request);
    turns.took(request.body.byteLength);
    const end = () => {
      forgetTexts(decoded.events);
      turns.gave(request.body.byteLength);
    };
    return emitting.then(
      () => {
        end();
        this.#accepted(request, decoded);
        return this.#requests % IN_ONE_TURN === 0 ? inNextTurn(accepted) : accepted;
      },
      async (error) => {
        try {
          const refused = { error, refused: refusedByChannels(error), sender: decoded };
          return await inNextTurn(this.#refuse(request, refused, refuse));
        } finally {
          end();
        }
      },
    );
  }

  #accepted(request: InboundRequest, decoded: DecodedRequest): void {
    if (decoded.events.length === 0) this.#warnAboutNoEvents(request, decoded);
    this.#account(request, decoded, undefined);
    this.#refusals.accepted();
    this.#arrivals.taker?.accepted(this.#parts.name, request, decoded);
  }

  /** The `refused` of the source's context. */
  readonly refused = ({ requestBytes = 0, responseBytes = 0, ...refusal }: SourceRefusal): void => {
    this.#refusals.add(refusal, { reason: refusal.reason, addressee: cleaned(refusal) });
    const { name, observer } = this.#parts;
    observer.received(name, { ...unknownSender, requestBytes, responseBytes, failed: true });
    this.#arrivals.taker?.turnedAway(name, { requestBytes, ...refusal });
  };

  /** Logs what was counted and not logged yet. */
  stop(): void {
    this.#warnings.flush();
  }

  /** Refuses before decoding, where the handler knows the sender without it: many refusals must cost little. */
  #usedUp(quota: ServiceQuota, request: InboundRequest): Refusal | undefined {
    try {
      const sender = this.#parts.handler?.senderOf?.(request);
      const error = sender === undefined ? undefined : quota.usedUp(sender.service);
      return sender && error && { error, refused: refusedByChannels(error), sender };
    } catch {
      // A fault of the handler shows when it decodes.
      return undefined;
    }
  }

  #refuse(request: InboundRequest, { error, refused, sender }: Refusal, refuse: Refuse): Refused {
    const responseBytes = refuse(refused);
    if (responseBytes === undefined) return refused;
    const addressee = { ...addresseeOf(request, sender), ...this.#parts.traceFields?.(request) };
    const reason = reasonOf(error);
    this.#refusals.add(refused, { reason, addressee, service: sender.service });
    this.#account(request, sender, responseBytes);
    const { status, cause } = refused;
    this.#arrivals.taker?.refused(this.#parts.name, request, { status, cause, reason, sender });
    return refused;
  }

  #warnAboutNoEvents(request: InboundRequest, { service, servicePath }: Sender): void {
    const message = "notifications without entities accepted: nothing of them is stored";
    const fields = { service, servicePath, ...this.#parts.traceFields?.(request) };
    this.#warnings.add("no-entities", { level: "warn", message, fields });
  }

  /** `responseBytes` are those of a refusal; undefined when the request was accepted. */
  #account(request: InboundRequest, { service, servicePath }: Sender, responseBytes: number | undefined): void {
    const { name, observer } = this.#parts;
    observer.received(name, {
      service,
      servicePath,
      requestBytes: request.body.byteLength,
      responseBytes: responseBytes ?? 0,
      failed: responseBytes !== undefined,
      milliseconds: Math.max(0, this.#millis() - request.receivedAt.getTime()),
    });
  }
}

const accepted: Accepted = { accepted: true };

/** The answer to a request whose sender is gone. */
const left: Refused = {
  accepted: false,
  status: 400,
  reason: "the sender has closed the connection",
  cause: "sender-left",
  headers: {},
  retryable: true,
  retryAfter: undefined,
};

/** A request whose events are on their way into the channels. */
interface Receiving {
  readonly request: InboundRequest;
  readonly refuse: Refuse;
  readonly decoded: DecodedRequest;
}

function withoutContent(): number {
  return 0;
}

async function inNextTurn<T>(result: T): Promise<T> {
  await nextTurn();
  return result;
}
