import { AgentError, type Batch, codeOf, type Event, reasonOf, retryableOf } from "../sdk/index.js";
import { PartlyWritten } from "./contract/driver.js";
import type { ErrorTableWriter } from "./features/error-table-writer.js";
import type { RefusedRows } from "./refused-rows.js";
import type { RowBuilder } from "./row-builder.js";
import { isNotAdmitted } from "./rows/admission.js";
import type { TableBatch } from "./rows/grouping.js";
import type { StepWriter } from "./step-writer.js";
import { fitted } from "./tables/fitting.js";
import type { ListedStore } from "./tables/make-missing.js";

interface FailedEventsParts {
  readonly store: ListedStore;
  readonly rowBuilder: RowBuilder;
  readonly writer: Pick<StepWriter, "refusedTable">;
  readonly refusedRows: Pick<RefusedRows, "among">;
  /** Undefined if persist_errors is false. */
  readonly errorTable: Pick<ErrorTableWriter, "add"> | undefined;
}

interface Failed {
  readonly error: unknown;
  /** The same for people. */
  readonly failure: unknown;
  /** The tables that were written when the batch failed. */
  readonly tables: readonly TableBatch[];
}

/** Says which events are the reason that a batch is not stored, where that is known, and writes these to the error table. */
export class FailedEvents {
  readonly #parts: FailedEventsParts;

  constructor(parts: FailedEventsParts) {
    this.#parts = parts;
  }

  /** The failure for the kernel; where it is known which events are refused, the others are named as not written. */
  async reported({ events }: Batch, failed: Failed, signal: AbortSignal): Promise<unknown> {
    const failure = await this.#named(events, failed, signal);
    const refused = refusedOf(failure);
    if (refused === undefined) {
      this.report(events, failure, failed.tables);
      return failure;
    }
    for (const [event, reason] of refused) this.report([event], reason, this.#parts.rowBuilder.tables([event]));
    return besideRefused(events, refused, failure);
  }

  /** Writes a refused event to the error table, when it is named or alone: the kernel splits a batch of which none is named. */
  report(events: readonly Event[], failure: unknown, tables: readonly TableBatch[]): void {
    const { errorTable, rowBuilder, store } = this.#parts;
    const [event, ...others] = events;
    if (errorTable === undefined || event === undefined || others.length > 0) return;
    if (retryableOf(failure) !== false || isNotAdmitted(failure)) return;
    // A value that is no geometry has no statement.
    const sent = codeOf(failure) === "NOT_A_GEOMETRY" ? [] : tables;
    errorTable.add({
      of: () => rowBuilder.schemaOf(event),
      error: failure,
      statements: () =>
        sent.flatMap((table) => {
          const rows = fitted(table, store.tables.columns(table.name), store);
          return rowBuilder.statements(table, rows, store);
        }),
    });
  }

  /** The failure with the events that are the reason, where the table that refuses them is known. */
  async #named(events: readonly Event[], { error, failure }: Failed, signal: AbortSignal): Promise<unknown> {
    const { writer, refusedRows } = this.#parts;
    const cause = error instanceof PartlyWritten ? error.cause : error;
    const table = events.length === 1 ? undefined : writer.refusedTable(cause);
    const refused = table && (await refusedRows.among(events, { table, error: cause }, signal));
    if (refused === undefined || refused.size === 0) return failure;
    const options = { cause, retryable: retryableOf(failure) ?? true, events: refused };
    return new AgentError(codeOf(failure) ?? "DATA_REFUSED", reasonOf(failure), options);
  }
}

/** The events that a failure names, each with its reason. */
function refusedOf(failure: unknown): ReadonlyMap<Event, unknown> | undefined {
  if (!(failure instanceof AgentError) || failure.events === undefined) return undefined;
  const { events } = failure;
  return "get" in events ? events : new Map(events.map((event) => [event, failure]));
}

/** All events of the batch have failed: a position would cover the refused ones. */
function besideRefused(events: readonly Event[], refused: ReadonlyMap<Event, unknown>, failure: unknown): AgentError {
  const message = reasonOf(failure);
  const others = new AgentError("NOT_WRITTEN", `not written with events that are refused: ${message}`, {
    retryable: true,
  });
  const failed = new Map(events.map((event) => [event, refused.get(event) ?? others]));
  const retryable = retryableOf(failure) ?? false;
  const code = retryable ? (codeOf(failure) ?? "STORE_UNAVAILABLE") : "DATA_REFUSED";
  const cause = retryable && failure instanceof Error ? failure.cause : failure;
  return new AgentError(code, message, { cause, retryable, events: failed });
}
