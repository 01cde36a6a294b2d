import { bytes, moment } from "../../parts/format.js";
import { Code, indented } from "../explanation.js";

/** A notification as a source received it. */
export interface Arrival {
  readonly seq: number;
  readonly time: string;
  readonly source: string;
  readonly result: "accepted" | "refused";
  readonly status?: number;
  readonly cause?: string;
  readonly reason?: string;
  readonly method?: string;
  readonly path?: string;
  readonly topic?: string;
  readonly service?: string;
  readonly service_path?: string;
  readonly content_type?: string;
  readonly size: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly entities?: readonly { readonly id: string; readonly type?: string }[];
  readonly entity_count?: number;
  readonly body?: string;
  readonly body_cut?: boolean;
  readonly body_binary?: boolean;
}

export function ArrivalItem({ arrival }: { readonly arrival: Arrival }) {
  const {
    time,
    source,
    result,
    status,
    reason,
    method,
    path,
    topic,
    service,
    service_path: servicePath,
    size,
  } = arrival;
  const { entities = [], entity_count: entityCount = entities.length } = arrival;
  const more = entityCount - entities.length;
  return (
    <li class={`panel arrival ${result}`}>
      <p class="arrival-head">
        <span class={`mark ${result === "accepted" ? "up" : "down"}`}>
          {result === "accepted" ? "Accepted" : "Refused"}
        </span>{" "}
        <time dateTime={time}>{moment(time)}</time> {source}
        {service === undefined ? "" : `, service ${service}`}
        {servicePath === undefined ? "" : ` ${servicePath}`}, {bytes(size)}
      </p>
      {result === "accepted" ? null : (
        <p class="bad-text">
          {status} {reason ?? arrival.cause}
        </p>
      )}
      <p>
        {entities.map(({ id, type }) => (
          <span key={`${id} ${type}`} class="entity">
            {id} {type === undefined ? null : <span class="muted">{type}</span>}
          </span>
        ))}
        {more > 0 ? <span class="muted">and {more} more</span> : null}
      </p>
      <details>
        <summary>
          {topic ?? `${method ?? ""} ${path ?? ""}`} <span class="muted">headers and body</span>
        </summary>
        <Code text={headersOf(arrival)} label="Headers" />
        <Body arrival={arrival} />
      </details>
    </li>
  );
}

function headersOf({ headers = {} }: Arrival): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

function Body({ arrival: { body, body_cut: isCut, body_binary: isBinary } }: { readonly arrival: Arrival }) {
  if (isBinary === true) return <p class="muted">The body is not text.</p>;
  if (body === undefined || body === "") return <p class="muted">No body was kept.</p>;
  return (
    <>
      <Code text={isCut === true ? body : indented(body)} label="Body" />
      {isCut === true ? <p class="muted">Only the beginning was kept.</p> : null}
    </>
  );
}
