import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { BenchRequest } from "./requests.js";

export interface PostOrder {
  readonly url: string;
  /** Consumed once, one by one. */
  readonly requests: Iterable<BenchRequest>;
  readonly connections: number;
}

const RETRIES = 60;
const RETRY_MILLISECONDS = 1000;

/** Posts each request once and until it is answered 200: a full channel (503) is tried again every second for a minute. */
export async function postEach({ url, requests, connections }: PostOrder): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const turns = requests[Symbol.iterator]();
  const sender = async () => {
    for (let turn = turns.next(); turn.done !== true; turn = turns.next()) {
      await postUntilAccepted(turn.value, async (one) => await post(url, one, agent));
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, sender));
  } finally {
    agent.destroy();
  }
}

async function postUntilAccepted(one: BenchRequest, send: (one: BenchRequest) => Promise<number>): Promise<void> {
  for (let retry = 0; ; retry += 1) {
    const status = await send(one);
    if (status === 200) return;
    if (status !== 503 || retry === RETRIES) throw new Error(`a notification was answered ${status}`);
    await pause(RETRY_MILLISECONDS);
  }
}

/** Posts one request and returns the status of the answer. */
export function post(url: string, { method, path, headers, body }: BenchRequest, agent?: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const target = new URL(path, url);
    const own = ["Host", target.host, "Content-Length", String(Buffer.byteLength(body))];
    const sent = request(target, { method, agent, headers: [...headers.flat(), ...own] }, (answer) => {
      answer.resume();
      answer.once("end", () => resolve(answer.statusCode ?? 0));
      answer.once("error", reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
