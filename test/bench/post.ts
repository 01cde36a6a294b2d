import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

export interface PostOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Consumed once, body by body. */
  readonly bodies: Iterable<string>;
  readonly connections: number;
}

const RETRIES = 60;
const RETRY_MILLISECONDS = 1000;

/** Posts each body once and until it is answered 200: a full channel (503) is tried again every second for a minute. */
export async function postEach({ url, headers, bodies, connections }: PostOrder): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const turns = bodies[Symbol.iterator]();
  const sender = async () => {
    for (let turn = turns.next(); turn.done !== true; turn = turns.next()) {
      await postUntilAccepted(turn.value, async (body) => await post(url, headers, body, agent));
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, sender));
  } finally {
    agent.destroy();
  }
}

async function postUntilAccepted(body: string, send: (body: string) => Promise<number>): Promise<void> {
  for (let retry = 0; ; retry += 1) {
    const status = await send(body);
    if (status === 200) return;
    if (status !== 503 || retry === RETRIES) throw new Error(`a notification was answered ${status}`);
    await pause(RETRY_MILLISECONDS);
  }
}

function post(url: string, headers: Readonly<Record<string, string>>, body: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body);
    const sent = request(
      url,
      { method: "POST", agent, headers: { ...headers, "Content-Length": length } },
      (answer) => {
        answer.resume();
        answer.once("end", () => resolve(answer.statusCode ?? 0));
        answer.once("error", reject);
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}
