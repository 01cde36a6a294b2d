import type { Ledger } from "../pipeline/ledger.js";
import type { Compared } from "../pipeline/ledger-file.js";
import type { Assembly, RunningChannel } from "./component.js";

/** What stores count the events of a channel; undefined where none does, or nobody can tell. */
export function compared({ sinks }: Assembly, running: RunningChannel): Compared | undefined {
  const { channel } = running;
  const own = sinks.filter((sink) => sink.channel === channel);
  if (!channel.durable || !channel.isExact || own.length === 0) return undefined;
  const id = idOf(running);
  const places = own.map(({ name, sink }) => [name, sink.positionsPlace ?? ""] as const);
  return id === undefined ? undefined : { channel: id, sinks: Object.fromEntries(places.toSorted(byName)) };
}

/** Tells the ledger, before a sink stores anything, what counts from now on. */
export function noteCompared(assembly: Assembly, ledger: Pick<Ledger, "account">): void {
  for (const running of assembly.channels) {
    const account = ledger.account(running.name);
    try {
      const of = compared(assembly, running);
      if (of !== undefined || !running.channel.durable) account.comparesWith(of);
    } catch {
      // A channel that fails here says so when its sinks take from it.
    }
  }
}

/** The name of the channel in the positions that its sinks keep. A channel that does not end its take holds nobody up. */
function idOf({ channel }: RunningChannel): string | undefined {
  const transaction = channel.openTake();
  const position = transaction.positions?.after(0);
  void transaction.rollback().catch(() => undefined);
  return position?.split(":")[0];
}

const byName = ([one]: readonly [string, string], [other]: readonly [string, string]) => (one < other ? -1 : 1);
