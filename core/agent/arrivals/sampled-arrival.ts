import { isUtf8 } from "node:buffer";
import type { Masking } from "./masking.js";

/** A request, and how it was answered. */
interface Answered {
  readonly source: string;
  readonly result: "accepted" | "refused";
  readonly status?: number;
  readonly cause?: string;
  readonly reason?: string;
  readonly method?: string;
  readonly path?: string;
  readonly topic?: string;
  readonly service?: string;
  /** Bytes of the body. */
  readonly size: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What arrived, as it was sent. */
export interface Arrived extends Answered {
  readonly time: Date;
  readonly servicePath?: string;
  readonly entities: readonly ArrivedEntity[];
  readonly entityCount: number;
  readonly body?: Uint8Array;
  /** Most characters of the body. */
  readonly bytes: number;
  readonly masking: Masking;
}

export interface ArrivedEntity {
  readonly id?: string;
  readonly type?: string;
}

/** One request that arrived, without secrets. */
export interface SampledArrival extends Answered {
  /** Higher for each later one. */
  readonly seq: number;
  readonly time: string;
  readonly service_path?: string;
  readonly content_type?: string;
  readonly entities?: readonly ArrivedEntity[];
  readonly entity_count?: number;
  readonly body?: string;
  /** There is more of it. */
  readonly body_cut?: true;
  /** It is no text, and not shown. */
  readonly body_binary?: true;
}

const LONGEST = 200;
const LONGEST_REASON = 500;
/** Bytes of a body that are looked at. */
const MOST_READ = 65_536;
/** Of what was read of a longer body the end is left out: a secret may begin there. */
const UNCERTAIN = 256;

export function entryOf(seq: number, arrived: Arrived): SampledArrival {
  const { time, source, result, status, cause, reason, path, size, headers, entities, entityCount, masking } = arrived;
  const short = (text: string | undefined) => (text === undefined ? undefined : masking.text(text, LONGEST));
  const { method, topic, service, servicePath } = arrived;
  const texts = {
    cause: short(cause),
    reason: reason === undefined ? undefined : masking.text(reason, LONGEST_REASON),
    method: short(method),
    path: path === undefined ? undefined : masking.path(path),
    topic: short(topic),
    service: short(service),
    service_path: short(servicePath),
    content_type: short(headers?.["content-type"]),
  };
  return {
    seq,
    time: time.toISOString(),
    source,
    result,
    ...(status === undefined ? {} : { status }),
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)),
    size,
    ...(headers === undefined ? {} : { headers: masking.headers(headers) }),
    ...(result === "refused" && entityCount === 0
      ? {}
      : {
          entities: entities.map(({ id, type }) => ({
            ...(id === undefined ? {} : { id: masking.text(id, LONGEST) }),
            ...(type === undefined ? {} : { type: masking.text(type, LONGEST) }),
          })),
          entity_count: entityCount,
        }),
    ...bodyOf(arrived),
  };
}

function bodyOf({ body, bytes, masking }: Arrived): Pick<SampledArrival, "body" | "body_cut" | "body_binary"> {
  if (body === undefined || bytes === 0) return {};
  const isWhole = body.byteLength <= MOST_READ;
  const read = isWhole ? body : body.subarray(0, MOST_READ);
  if (isWhole ? !isUtf8(read) : read.includes(0)) return { body_binary: true };
  const text = masking.body(new TextDecoder().decode(read), MOST_READ);
  const certain = isWhole ? text : text.slice(0, -UNCERTAIN);
  const isCut = !isWhole || certain.length > bytes;
  return { body: certain.slice(0, bytes), ...(isCut ? { body_cut: true as const } : {}) };
}
