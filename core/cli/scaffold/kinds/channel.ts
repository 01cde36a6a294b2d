import { declarationText, type KindTexts, type NamedTexts, schemaText } from "./kind-texts.js";

/** A channel that keeps events in memory. */
export const channelTexts: KindTexts = (names): NamedTexts => {
  const { type, file, typeId } = names;
  return {
    does: "keeps events in memory.",
    example: [
      "agent.channels = c",
      `agent.channels.c.type = ${type}`,
      "agent.channels.c.capacity = 1000",
      "agent.channels.c.transactionCapacity = 100",
    ],
    guarantees: [
      "First in, first out; a notification goes in as a whole or not at all.",
      "What it holds is lost when the process ends. A durable channel has `durable` and passes further cases.",
    ],
    sources: {
      index: declarationText(names, {
        kind: "channel",
        summary: "Keeps events in memory.",
        checked: true,
        create: `(config, context) => new ${typeId}(config, context)`,
      }),
      config: checkedSchema(names),
      [file]: channelText(names),
      conformance: `«import type { PluginSetup } from "deneb/sdk/testing";

»/** How the conformance suites test this plugin; \`deneb plugin test\` reads it, too. */
export const setup«: PluginSetup» = {
  limits: ({ capacity, transactionCapacity, waitSeconds }) => ({ capacity, transactionCapacity, wait: waitSeconds }),
};
`,
    },
    agentTest: `import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import plugin from "./index.js";

test("what goes into the channel comes out of it", async (context) => {
  const agent = await testAgent({ plugins: [plugin], config: { channels: { mine: { type: "${type}" } } } });
  context.after(() => agent.stop());

  for (const notification of Object.values(sampleNotifications)) await agent.inject(notification);
  await agent.settled();

  assert.equal(agent.kept().length, 3);
});

test("a notification for which there is no room is refused, and may be sent again", async (context) => {
  const channels = { mine: { type: "${type}", capacity: 1, transactionCapacity: 1, wait: 0 } };
  const agent = await testAgent({ plugins: [plugin], config: { channels } });
  context.after(() => agent.stop());

  const { status } = await agent.inject(sampleNotifications.ld);
  await agent.inject(sampleNotifications.v2);
  await agent.settled();

  assert.equal(status, 413, "two events never fit where there is room for one");
  assert.equal(agent.kept().length, 1);
});
`,
  };
};

function checkedSchema(names: Parameters<KindTexts>[0]): string {
  const { id, typeId } = names;
  const text = schemaText(names, [
    'capacity: { doc: "The most events it holds.", format: "count", default: 1000, min: 1 },',
    'transactionCapacity: { doc: "The most events of one take.", format: "count", default: 100, min: 1 },',
    'wait: { doc: "Seconds that a put waits for room.", format: "seconds", default: 3 },',
  ]).replace("ConfigOf, Schema", "ConfigOf, PropertyFault, Schema");
  return `${text}
/** What the format of a property cannot check. */
export function check${typeId}({
  capacity,
  transactionCapacity,
}«: ${typeId}Config»)«: readonly PropertyFault<typeof ${id}Schema>[]» {
  if (transactionCapacity <= capacity) return [];
  return [{ property: "transactionCapacity", reason: \`must not be above capacity, which is \${capacity}\` }];
}
`;
}

function channelText({ typeId }: Parameters<KindTexts>[0]): string {
  return `«import type { Channel, Context, Event, PutTransaction, TakeTransaction, Waiting } from "deneb/sdk";
»import {
  channelStopped,
«  type EventQueue,
  type QueuedEvent,
»  QueuePut,
  QueueTake,
«  type Reservation,
»  Room,
  SequenceRing,
  WaitingTakes,
} from "deneb/sdk/channel";
«import type { ${typeId}Config } from "./config.js";
»
/** Keeps events in memory. */
export class ${typeId}« implements Channel» {
  «readonly »transactionCapacity«: number»;
  «readonly »#name«: string»;
  «readonly »#queue«: Queue»;

  constructor({ capacity, transactionCapacity, wait }«: ${typeId}Config», { name }«: Context») {
    this.transactionCapacity = transactionCapacity;
    this.#name = name;
    this.#queue = new Queue({ channel: name, capacity, waitSeconds: wait });
  }

  get size()«: number» {
    return this.#queue.size;
  }

  openPut(events = 0)«: PutTransaction» {
    return new QueuePut(this.#queue, { channel: this.#name, most: Math.max(events, this.transactionCapacity) });
  }

  openTake()«: TakeTransaction» {
    return new QueueTake(this.#queue, { channel: this.#name, most: this.transactionCapacity });
  }

  async start()«: Promise<void>» {}

  async stop()«: Promise<void>» {
    this.#queue.close();
  }
}

/** Events taken count until they are released. */
class Queue« implements EventQueue» {
  «readonly »#channel«: string»;
  «readonly »#room«: Room»;
  «readonly »#queued = new SequenceRing();
  «readonly »#takes = new WaitingTakes();
  #sequence = 0;
  #taken = 0;
  #closed = false;

  constructor(limits«: ConstructorParameters<typeof Room>[0]») {
    this.#channel = limits.channel;
    this.#room = new Room(limits, () => ({ events: this.size, bytes: 0 }));
  }

  get size()«: number» {
    return this.#queued.length + this.#taken;
  }

  async add(events«: readonly Event[]»)«: Promise<void>» {
    await this.#room.enter(amountOf(events));
    this.#append(events);
  }

  async reserve(events«: readonly Event[]», waiting«: Waiting»)«: Promise<Reservation>» {
    await this.#room.enter(amountOf(events), waiting);
    return {
      add: async () => {
        if (this.#closed) throw channelStopped(this.#channel);
        this.#append(events);
      },
      release: () => this.#room.settle(amountOf(events)),
    };
  }

  async take(max«: number», signal«: AbortSignal»)«: Promise<readonly QueuedEvent[]>» {
    if (this.#queued.length > 0) return this.#draw(max);
    if (this.#closed || signal.aborted) return [];
    return await this.#takes.wait(max, signal);
  }

  async release(taken«: readonly QueuedEvent[]»)«: Promise<void>» {
    this.#taken -= taken.length;
    this.#room.admitWaiting();
  }

  restore(taken«: readonly QueuedEvent[]»)«: void» {
    this.#taken -= taken.length;
    this.#queued.restore(taken);
    this.#serveWaiting();
  }

  close()«: void» {
    this.#closed = true;
    this.#room.close();
    this.#takes.releaseAll();
  }

  #append(events«: readonly Event[]»)«: void» {
    this.#queued.push(events.map((event) => ({ sequence: ++this.#sequence, event })));
    this.#room.settle(amountOf(events));
    this.#serveWaiting();
  }

  #draw(max«: number»)«: readonly QueuedEvent[]» {
    const events = this.#queued.shift(max);
    this.#taken += events.length;
    return events;
  }

  #serveWaiting()«: void» {
    for (let take = this.#takes.first; take !== undefined && this.#queued.length > 0; take = this.#takes.first) {
      take.settle(this.#draw(take.max));
    }
  }
}

const amountOf = (events«: readonly Event[]») => ({ events: events.length, bytes: 0 });
`;
}
