import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Bounds, LogPart, LogRecord, PartitionedLog } from "../../core/log/index.js";
import { AgentError, onAbort } from "../../core/sdk/index.js";
import { type ConformanceLogs, logConformance } from "../../core/testing/index.js";

/** What agents of one log have in common. */
class KeptLog {
  readonly parts = new Map<LogPart, LogRecord[]>();
  readonly next = new Map<LogPart, number>();
  readonly names = new Map<string, number>();
  readonly wake: (() => void)[] = [];
  readonly id: string;
  readonly partitions: number;

  constructor(id: string, partitions: number) {
    this.id = id;
    this.partitions = partitions;
  }

  of(part: LogPart): LogRecord[] {
    const records = this.parts.get(part) ?? [];
    this.parts.set(part, records);
    return records;
  }
}

type Adapter = PartitionedLog & { readonly kept: KeptLog };
type Fault = (adapter: Adapter, partitions: number) => Partial<PartitionedLog>;

/** An engine in memory, whose adapters have a fault. */
function engineWith(fault: Fault): ConformanceLogs {
  const known = new Map<string, KeptLog>();
  return {
    make(name, partitions) {
      const kept = known.get(name) ?? new KeptLog(`memory-${randomUUID()}`, partitions);
      known.set(name, kept);
      const adapter = adapterOf(kept);
      return Object.assign(Object.create(adapter), fault(adapter, partitions));
    },
    remove: async (name) => void known.delete(name),
    keepsNames: true,
    unreachable: () => ({ ...adapterOf(new KeptLog("away", 1)), open: () => Promise.reject(unavailable()) }),
  };
}

function unavailable(): AgentError {
  return new AgentError("LOG_UNAVAILABLE", "opening the log: it is away", { retryable: true });
}

const LARGEST = 100_000;

function adapterOf(kept: KeptLog): Adapter {
  const ends = new Set<() => void>();
  const found = (from: ReadonlyMap<LogPart, number>, bytes: number) => {
    let left = bytes;
    const read = new Map<LogPart, readonly LogRecord[]>();
    for (const [part, first] of from) {
      const records: LogRecord[] = [];
      for (const record of kept.of(part).filter(({ offset }) => offset >= first)) {
        if (left < record.value.byteLength && records.length + read.size > 0) break;
        left -= record.value.byteLength;
        records.push(record);
      }
      if (records.length > 0) read.set(part, records);
    }
    return read;
  };
  return {
    kept,
    open: async () => ({
      id: kept.id,
      partitions: kept.partitions,
      largestRecord: LARGEST,
      gapless: true,
      warnings: [],
    }),
    async append(part, value, name = `${part} ${kept.next.get(part)}`) {
      if (value.byteLength > LARGEST) throw new AgentError("RECORD_TOO_LARGE", "too large", { retryable: false });
      const there = kept.names.get(name);
      if (there !== undefined) return { offset: there, previous: there - 1 };
      const offset = kept.next.get(part) ?? 0;
      kept.next.set(part, offset + 1);
      kept.names.set(name, offset);
      kept.of(part).push({ offset, value: Buffer.from(value) });
      for (const wake of kept.wake.splice(0)) wake();
      return { offset, previous: offset - 1 };
    },
    async read(from, { bytes, waitMillis }, signal) {
      for (const end = performance.now() + waitMillis; ; ) {
        const read = found(from, bytes);
        const left = end - performance.now();
        if (read.size > 0 || signal.aborted || left <= 0) return read;
        let stopListening: (() => void) | undefined;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          const woken = () => resolve(clearTimeout(timer));
          kept.wake.push(woken);
          ends.add(woken);
          stopListening = onAbort(signal, woken);
        });
        stopListening?.();
        if (ends.size === 0) return new Map();
      }
    },
    bounds: async (parts) =>
      new Map(
        parts.map((part) => {
          const next = kept.next.get(part) ?? 0;
          return [part, { first: kept.of(part)[0]?.offset ?? next, next }];
        }),
      ),
    async trim(before) {
      for (const [part, to] of before)
        kept.parts.set(
          part,
          kept.of(part).filter(({ offset }) => offset >= to),
        );
    },
    async close() {
      const waiting = [...ends];
      ends.clear();
      for (const end of waiting) end();
    },
  };
}

async function failing(engine: ConformanceLogs): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name, run } of logConformance(engine)) await run().catch(() => names.push(name));
  return names;
}

test("an adapter that keeps the contract passes every case", async () => {
  assert.deepEqual(await failing(engineWith(() => ({}))), []);
});

test("an adapter whose engine removes nothing at a trim, or not all of it, passes every case", async () => {
  const keeping: readonly Fault[] = [
    () => ({ trim: async () => {} }),
    ({ trim }) => ({ trim: (before) => trim(new Map([...before].map(([part, to]) => [part, to - 1]))) }),
  ];
  for (const fault of keeping) assert.deepEqual(await failing(engineWith(fault)), []);
});

/** What loses or doubles events in an agent, and a part of the name of a case that fails. */
const faults: readonly { readonly says: string; readonly fault: Fault; readonly fails: RegExp }[] = [
  {
    says: "removes the record at which a trim ends",
    fault: ({ trim }) => ({ trim: (before) => trim(new Map([...before].map(([part, to]) => [part, to + 1]))) }),
    fails: /^after a trim a part begins at the given offset/,
  },
  {
    says: "counts from the records that are there, so that offsets come again after a trim",
    fault: ({ kept, append }) => ({
      async append(part, value, name) {
        if (kept.of(part).length === 0) kept.next.set(part, 0);
        return await append(part, value, name);
      },
    }),
    fails: /^a part that is trimmed to its end goes on with larger offsets in every adapter/,
  },
  {
    says: "says of each record that its own one was before it",
    fault: ({ append }) => {
      let last = -1;
      return {
        async append(part, value, name) {
          const { offset } = await append(part, value, name);
          const previous = last;
          last = offset;
          return { offset, previous };
        },
      };
    },
    fails: /^a record that is before the first one of an adapter/,
  },
  {
    says: "takes the number of partitions from its configuration",
    fault: ({ open }, partitions) => ({ open: async (signal) => ({ ...(await open(signal)), partitions }) }),
    fails: /^an adapter that is set to another number of partitions/,
  },
  {
    says: "appends what comes again under its name",
    fault: ({ append }) => ({ append: (part, value) => append(part, value, `${Math.random()}`) }),
    fails: /^a record that comes again under its name/,
  },
  {
    says: "has one id for all logs",
    fault: ({ open }) => ({ open: async (signal) => ({ ...(await open(signal)), id: "log" }) }),
    fails: /^a log of the same name that is made after it was removed/,
  },
  {
    says: "keeps values as texts",
    fault: ({ append }) => ({ append: (part, value, name) => append(part, Buffer.from(`${value}`), name) }),
    fails: /^a value comes back byte by byte/,
  },
  {
    says: "has one part for agents and letters",
    fault: ({ append }) => ({
      append: (part, value, name) => append(part === "letters" ? "agents" : part, value, name),
    }),
    fails: /^each part gives back its own records/,
  },
  {
    says: "begins a read at the record before the given one",
    fault: ({ read }) => ({
      read: (from, limits, signal) =>
        read(new Map([...from].map(([part, at]) => [part, Math.max(0, at - 1)])), limits, signal),
    }),
    fails: /^a read begins at the given offset/,
  },
  {
    says: "keeps the bytes of a read for each part",
    fault: ({ read }) => ({
      async read(from, limits, signal) {
        const found = new Map<LogPart, readonly LogRecord[]>();
        for (const one of from)
          for (const [part, records] of await read(new Map([one]), { ...limits, waitMillis: 0 }, signal))
            found.set(part, records);
        return found;
      },
    }),
    fails: /^the bytes of a read are those of all its parts/,
  },
  {
    says: "reads parts that nobody asked for",
    fault: ({ read }) => ({
      async read(from, limits, signal) {
        const found = await read(new Map([...from, [0, 0]]), limits, signal);
        return from.has(0) ? await read(from, limits, signal) : found;
      },
    }),
    fails: /^a read gives records of the parts that it was asked for/,
  },
  {
    says: "keeps 500 records of a part",
    fault: ({ kept, append }) => ({
      async append(part, value, name) {
        const place = await append(part, value, name);
        kept.of(part).splice(0, kept.of(part).length - 500);
        return place;
      },
    }),
    fails: /^a part of a thousand records/,
  },
  {
    says: "ends the read that waits when another one begins",
    fault: ({ read }) => {
      let before = new AbortController();
      return {
        read(from, limits, signal) {
          before.abort();
          before = new AbortController();
          return read(from, limits, AbortSignal.any([signal, before.signal]));
        },
      };
    },
    fails: /^a waiting read blocks neither appends/,
  },
  {
    says: "remembers the bounds that it said first",
    fault: ({ bounds }) => {
      const known = new Map<LogPart, Bounds>();
      return {
        async bounds(parts) {
          for (const [part, now] of await bounds(parts)) known.set(part, known.get(part) ?? now);
          return new Map([...known].filter(([part]) => parts.includes(part)));
        },
      };
    },
    fails: /^the bounds that an adapter says of a part follow/,
  },
  {
    says: "says no bounds of the parts without events",
    fault: ({ bounds }) => ({ bounds: (parts) => bounds(parts.filter((part) => typeof part === "number")) }),
    fails: /^a new log is empty/,
  },
  {
    says: "says of an empty part that it begins again",
    fault: ({ kept, bounds }) => ({
      bounds: async (parts) =>
        new Map(
          [...(await bounds(parts))].map(([part, now]) => [
            part,
            kept.of(part).length > 0 ? now : { first: 0, next: 0 },
          ]),
        ),
    }),
    fails: /^a part that is trimmed to its end goes on with larger offsets in every adapter/,
  },
  {
    says: "trims the parts without events with the others",
    fault: ({ trim }) => ({
      async trim(before) {
        const to = Math.max(...before.values());
        await trim(new Map<LogPart, number>([["agents", to], ["letters", to], ...before]));
      },
    }),
    fails: /^after a trim a part begins at the given offset/,
  },
  {
    says: "has no list of warnings",
    fault: ({ open }) => ({
      open: async (signal) => JSON.parse(JSON.stringify({ ...(await open(signal)), warnings: undefined })),
    }),
    fails: /^a new log is empty/,
  },
  {
    says: "says other settings later",
    fault: () => ({ settings: async () => ({ largestRecord: 5, warnings: [] }) }),
    fails: /^what an opened log says of its settings later/,
  },
  {
    says: "says of a record that comes again that the newest one is before it",
    fault: ({ kept, append }) => ({
      async append(part, value, name) {
        const isThere = name !== undefined && kept.names.has(name);
        const place = await append(part, value, name);
        return isThere ? { ...place, previous: (kept.next.get(part) ?? 0) - 1 } : place;
      },
    }),
    fails: /^a record that comes again under its name/,
  },
  {
    says: "knows the names of the newest records only",
    fault: ({ kept, append }) => ({
      append(part, value, name) {
        for (const [known, offset] of kept.names)
          if (offset < (kept.next.get(part) ?? 0) - 10) kept.names.delete(known);
        return append(part, value, name);
      },
    }),
    fails: /^a record that comes again under its name/,
  },
];

test("an adapter that says of records that they are none fails a case that counts them", async () => {
  const engine = engineWith(({ read }) => ({
    async read(from, limits, signal) {
      const found = await read(from, { ...limits, waitMillis: 0 }, signal);
      return new Map(
        [...found].map(([part, records]) => [part, records.map((one) => ({ ...one, mark: true as const }))]),
      );
    },
  }));
  const [named] = logConformance(engine).filter(({ name }) => /^each part gives back/.test(name));

  await assert.rejects(
    async () => named?.run(),
    /0 of 3 records of part 0 and 3 marks, which agents pass over, were read/,
  );
});

for (const { says, fault, fails } of faults)
  test(`an adapter that ${says} fails a case that says so`, async () => {
    const engine = engineWith(fault);
    const named = logConformance(engine).filter(({ name }) => fails.test(name));

    assert.equal(named.length, 1);
    for (const { run } of named) await assert.rejects(run());
  });
