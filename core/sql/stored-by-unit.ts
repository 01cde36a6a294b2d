import { AgentError, codeOf, type Event, positionFaults, reasonOf, retryableOf } from "../sdk/index.js";

interface UnitsOfStore {
  /** The commit unit of its rows. */
  unitOf(event: Event): string;
  /** Those of the events that are stored; rejects while their unit cannot be read. */
  stored(events: readonly Event[]): Promise<readonly Event[]>;
  /** Rejects while the store as a whole cannot be used. */
  probe(): Promise<void>;
}

/**
 * The events that are stored, asked in each commit unit by itself. Where some units cannot be read and the store can be used, the
 * error names all events with rows in these.
 */
export async function storedByUnit(events: readonly Event[], units: UnitsOfStore): Promise<readonly Event[]> {
  const found: Event[] = [];
  const untold: Event[] = [];
  let failure: { readonly cause: unknown } | undefined;
  for (const own of grouped(events, units).values()) {
    try {
      for (const event of await units.stored(own)) found.push(event);
    } catch (cause) {
      if (retryableOf(cause) === false || isOfPosition(cause)) throw cause;
      failure ??= { cause };
      for (const event of own) untold.push(event);
    }
  }
  if (failure === undefined) return found;
  const { cause } = failure;
  if (untold.length === events.length) await reached(units, cause);
  throw new AgentError("STORE_UNAVAILABLE", reasonOf(cause), { retryable: true, cause, events: untold });
}

/** Then nothing may be written, wherever it is. */
function isOfPosition(error: unknown): boolean {
  return Object.values<string | undefined>(positionFaults).includes(codeOf(error));
}

async function reached(units: UnitsOfStore, cause: unknown): Promise<void> {
  try {
    await units.probe();
  } catch {
    throw cause;
  }
}

function grouped(events: readonly Event[], { unitOf }: UnitsOfStore): ReadonlyMap<string, readonly Event[]> {
  const groups = new Map<string, Event[]>();
  for (const event of events) {
    const unit = unitOf(event);
    const own = groups.get(unit);
    if (own === undefined) groups.set(unit, [event]);
    else own.push(event);
  }
  return groups;
}
