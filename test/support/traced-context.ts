import { Receiver } from "../../core/pipeline/receiver.js";
import type { ServiceQuota } from "../../core/pipeline/service-quota.js";
import { atOnce } from "../../core/sdk/at-once.js";
import type { Emit, Event, Handler, IncomingTransaction, Logger, SourceContext } from "../../core/sdk/index.js";

export interface Tracing<H extends Handler> {
  readonly name: string;
  readonly log: Logger;
  now(): Date;
  readonly handler: H;
  /** Called before the events are recorded as emitted; what it rejects is not. */
  readonly emit?: Emit;
  readonly quota?: ServiceQuota;
}

/** The context that the agent gives a source, with its real receiver, and everything that comes out of it. */
export function tracedContext<H extends Handler>({ name, log, now, handler, emit, quota }: Tracing<H>) {
  const emitted: Event[] = [];
  const accounted: IncomingTransaction[] = [];
  const refused: { readonly status: number; readonly cause: string }[] = [];
  const recordingEmit: Emit = (events) => {
    const emitting = emit?.(events) ?? atOnce;
    const recorded = () => void emitted.push(...events);
    if (emitting !== atOnce) return emitting.then(recorded);
    recorded();
    return atOnce;
  };
  const observer = {
    received: (_source: string, transaction: IncomingTransaction) => void accounted.push(transaction),
    refused: (_source: string, refusal: { readonly status: number; readonly cause: string }) =>
      void refused.push(refusal),
  };
  const receiver = new Receiver({ name, handler, emit: recordingEmit, quota, observer, log, now });
  const context: SourceContext<{ readonly handler: H }> = {
    name,
    log,
    now,
    dataDir: "",
    run: "run",
    slots: { handler },
    receive: receiver.receive,
    refused: receiver.refused,
    emit: recordingEmit,
    incoming: (transaction) => void accounted.push(transaction),
  };
  return { context, receiver, emitted, accounted, refused };
}
