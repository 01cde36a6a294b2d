import { get, type IncomingMessage } from "node:http";
import type { TestContext } from "node:test";

/** Asserted on, member by member. */
type Data = ReturnType<typeof JSON.parse>;

export interface StreamEvent {
  readonly event: string;
  readonly data: Data;
}

export interface EventStream {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** The next event; undefined when the stream has ended. */
  next(): Promise<StreamEvent | undefined>;
  /** The next event of that name; those before it are left out. */
  nextNamed(event: string): Promise<Data>;
  close(): void;
}

/** Reads server-sent events until the test ends. */
export async function eventStream(
  context: Pick<TestContext, "after">,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStream> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on("error", reject);
  });
  context.after(() => response.destroy());
  const events = eventsOf(response);
  const next = async () => (await events.next()).value;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next,
    async nextNamed(name) {
      for (;;) {
        const event = await next();
        if (event === undefined) throw new Error(`the stream ended before an event "${name}"`);
        if (event.event === name) return event.data;
      }
    },
    close: () => response.destroy(),
  };
}

async function* eventsOf(response: IncomingMessage): AsyncGenerator<StreamEvent, undefined> {
  let text = "";
  try {
    for await (const chunk of response.setEncoding("utf8")) {
      text += chunk;
      for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
        const message = text.slice(0, end);
        text = text.slice(end + 2);
        const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(message) ?? [];
        yield { event, data: JSON.parse(data) };
      }
    }
  } catch {
    // The agent or the test closed the connection.
  }
  return undefined;
}
