import { appendFile, open } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { AgentError, RejectedRequest, batchSink, definePlugin, onAbort, retryableOf } from "deneb/sdk";
import { QueuePut, QueueTake, SequenceRing, WaitingTakes, channelStopped } from "deneb/sdk/channel";
import { entityJson, eventHeaders, isEntity } from "deneb/ngsi";

const common = { apiVersion: 1, stability: "stable" };

const source = definePlugin({
    ...common,
    kind: "source",
    type: "frozen-source",
    summary: "Hands each request to its handler.",
    config: {
        port: { doc: "Port to listen on; 0 lets the system choose.", format: "port", resource: "port", default: 0 },
        bind: { doc: "Address to listen on.", format: "text", resource: "host", default: "127.0.0.1" },
    },
    slots: { handler: "handler" },
    check: ({ bind }) => (bind === "" ? [{ property: "bind", reason: "must be an address" }] : []),
    create: (config, context) => new FrozenSource(config, context),
});

class FrozenSource {
    #config;
    #context;
    #server;
    constructor(config, context) {
        this.#config = config;
        this.#context = context;
    }
    async start() {
        const server = createServer((request, response) => void this.#answer(request, response));
        this.#server = server;
        server.listen(this.#config.port, this.#config.bind);
        await once(server, "listening");
        this.#context.log.info({ port: server.address().port }, "listening");
        this.#context.report?.({ state: "up" });
    }
    async stop() {
        const server = this.#server;
        this.#server = undefined;
        if (server === undefined)
            return;
        server.close();
        server.closeAllConnections();
        await once(server, "close");
    }
    async #answer(request, response) {
        const chunks = [];
        for await (const chunk of request)
            chunks.push(chunk);
        const receivedAt = this.#context.now();
        const body = Buffer.concat(chunks);
        if (request.url === "/emit") {
            await this.#context.emit([{ headers: { from: "emit" }, body: JSON.parse(body.toString()) }]);
            this.#context.incoming({ service: "s", servicePath: "/", requestBytes: body.length, responseBytes: 0, failed: false });
            response.writeHead(200).end();
            return;
        }
        const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
        const outcome = await this.#context.receive({ method: request.method, path: request.url, headers, body, receivedAt });
        response.writeHead(outcome.accepted ? 200 : outcome.status).end();
    }
}

const handler = definePlugin({
    ...common,
    kind: "handler",
    type: "frozen-handler",
    summary: "Makes an event of each line.",
    config: {},
    create: () => ({
        decode({ body, headers }) {
            const text = new TextDecoder().decode(body);
            if (text === "")
                throw new RejectedRequest(400, "the body is empty", "empty-body");
            return {
                events: text.split("\n").map((line) => ({ headers: { [eventHeaders.service]: headers["fiware-service"] ?? "s" }, body: line })),
                service: headers["fiware-service"] ?? "s",
                servicePath: "/",
            };
        },
    }),
});

const interceptor = definePlugin({
    ...common,
    kind: "interceptor",
    type: "frozen-interceptor",
    summary: "Marks events, and drops those whose text is in a list.",
    config: { drop: { doc: "Texts to drop.", format: "words", default: [] }, mark: { doc: "Value of the header.", format: ["a", "b"], default: "a" } },
    create: ({ drop, mark }) => ({
        intercept(event) {
            return drop.includes(event.body) ? undefined : { headers: { ...event.headers, mark }, body: event.body };
        },
    }),
});

const selector = definePlugin({
    ...common,
    kind: "selector",
    type: "frozen-selector",
    summary: "Chooses all channels.",
    config: {},
    create: (_config, { channels }) => ({ select: () => ({ required: channels, optional: [] }) }),
});

const channel = definePlugin({
    ...common,
    kind: "channel",
    type: "frozen-channel",
    summary: "Keeps events in memory.",
    config: { capacity: { doc: "Most events.", format: "count", min: 1, default: 100 } },
    create: ({ capacity }, context) => new FrozenChannel(capacity, context.name),
});

class FrozenChannel {
    #queue;
    #name;
    transactionCapacity;
    constructor(capacity, name) {
        this.transactionCapacity = capacity;
        this.#name = name;
        this.#queue = new FrozenQueue(capacity, name);
    }
    get size() {
        return this.#queue.size;
    }
    openPut(events = 0) {
        return new QueuePut(this.#queue, { channel: this.#name, most: Math.max(events, this.transactionCapacity) });
    }
    openTake() {
        return new QueueTake(this.#queue, { channel: this.#name, most: this.transactionCapacity });
    }
    async start() { }
    async stop() {
        this.#queue.close();
    }
}

class FrozenQueue {
    #capacity;
    #name;
    #queued = new SequenceRing();
    #takes = new WaitingTakes();
    #sequence = 0;
    #taken = 0;
    #closed = false;
    constructor(capacity, name) {
        this.#capacity = capacity;
        this.#name = name;
    }
    get size() {
        return this.#queued.length + this.#taken;
    }
    async add(events) {
        if (this.#closed)
            throw channelStopped(this.#name);
        if (this.size + events.length > this.#capacity)
            throw new AgentError("CHANNEL_FULL", `putting ${events.length} events into "${this.#name}"`, { retryable: true });
        this.#queued.push(events.map((event) => ({ sequence: ++this.#sequence, event })));
        this.#serve();
    }
    async take(max, signal) {
        if (this.#queued.length > 0)
            return this.#draw(max);
        return this.#closed || signal.aborted ? [] : this.#takes.wait(max, signal);
    }
    async release(taken) {
        this.#taken -= taken.length;
    }
    restore(taken) {
        this.#taken -= taken.length;
        this.#queued.restore(taken);
        this.#serve();
    }
    close() {
        this.#closed = true;
        this.#takes.releaseAll();
    }
    #draw(max) {
        const events = this.#queued.shift(max);
        this.#taken += events.length;
        return events;
    }
    #serve() {
        for (let take = this.#takes.first; take !== undefined && this.#queued.length > 0; take = this.#takes.first)
            take.settle(this.#draw(take.max));
    }
}

const fileProperty = { doc: "File that gets the lines. Its folder must exist.", format: "text" };

function lineOf({ headers, body }) {
    const text = isEntity(body) ? entityJson(body) : JSON.stringify(body);
    return `${headers["mark"] ?? "-"} ${text}\n`;
}

const sink = definePlugin({
    ...common,
    kind: "sink",
    type: "frozen-sink",
    aliases: ["org.example.FrozenSink"],
    summary: "Appends lines, with the lifecycle of its own.",
    config: { file: fileProperty, header: { doc: "Members of the first line.", format: "map", default: {} } },
    create: ({ file }) => {
        let stopped = true;
        return {
            async start() {
                stopped = false;
            },
            async persist({ events }, signal) {
                const forget = onAbort(signal, () => { });
                if (stopped)
                    throw new AgentError("NOT_STARTED", "writing lines", { retryable: true });
                const refused = events.find(({ body }) => body === "poison");
                if (refused !== undefined)
                    throw new AgentError("POISON", 'writing "poison"; send something else', { retryable: false });
                const text = events.map(lineOf).join("");
                await appendFile(file, text);
                forget();
                return { requestBytes: text.length, responseBytes: 0 };
            },
            async stop() {
                stopped = true;
            },
        };
    },
    explain: async (_config, event) => ({ writes: [], statements: [{ text: lineOf(event), parameters: [] }], notes: [] }),
    query: async ({ file }, text) => ({ columns: ["file", "query"], rows: [[file, text]] }),
});

const away = new Set();

const batch = definePlugin({
    ...common,
    kind: "sink",
    type: "frozen-batch-sink",
    summary: "Appends lines, as a batch sink that fails once.",
    config: { file: fileProperty },
    create: ({ file }) => batchSink({
        open: () => open(file, "a"),
        async write(handle, events) {
            if (!away.has(file)) {
                away.add(file);
                const error = new AgentError("AWAY", "writing lines; the store is away", { retryable: true });
                if (retryableOf(error) === true)
                    throw error;
            }
            await handle.appendFile(events.map(lineOf).join(""));
        },
        close: (handle) => handle.close(),
    }),
});

const processor = definePlugin({
    ...common,
    kind: "sink-processor",
    type: "frozen-processor",
    summary: "Takes the first sink that works.",
    config: {},
    create: () => {
        const failed = new Set();
        return {
            order: (sinks) => [...sinks].sort((a, b) => Number(failed.has(a)) - Number(failed.has(b))),
            succeeded: (name) => void failed.delete(name),
            failed: (name) => void failed.add(name),
        };
    },
});

export default [source, handler, interceptor, selector, channel, sink, batch, processor];
