import { useState } from "preact/hooks";
import { calls, live } from "../live/page-state.js";
import { useWatched } from "../live/watched.js";
import { Choice, Field, TextField } from "../parts/field.js";
import { Changing, Failure, Notice, View } from "../parts/small.js";
import { useCall } from "../parts/use-call.js";
import { Code, type Explanation, ExplanationParts, indented } from "./explanation.js";

interface Explained {
  readonly events: readonly ExplainedEvent[];
  readonly refused: readonly { readonly source: string; readonly status: number; readonly reason: string }[];
  readonly complete: boolean;
}

interface ExplainedEvent {
  readonly source: string;
  readonly event: { readonly headers: Readonly<Record<string, string>>; readonly body: unknown };
  readonly channels: readonly string[];
  readonly sinks: readonly {
    readonly sink: string;
    readonly type: string;
    readonly explanation?: Explanation;
    readonly failure?: string;
  }[];
}

const contentTypes = ["application/json", "application/ld+json"] as const;

/** What the agent would do with a notification; nothing is stored. */
export function ExplainView() {
  return (
    <View title="Explain a notification">
      <p>
        Paste the body of a notification. The answer says which channels and sinks it takes and what is written; nothing
        is stored.
      </p>
      <Changing what="Explaining">
        <Form />
      </Changing>
    </View>
  );
}

function Form() {
  const { topology } = useWatched(live);
  const [given, setGiven] = useState({ body: "", service: "", path: "", source: "", type: "application/json" });
  const change = (more: Partial<typeof given>) => setGiven({ ...given, ...more });
  const { running, result, failure, run } = useCall<undefined, Explained>(
    async (_nothing, signal) => await calls.ask("POST", "/v1/admin/explain", { body: callOf(given), signal }),
  );
  const sources = (topology?.components ?? []).filter(({ kind }) => kind === "source").map(({ name }) => name);
  return (
    <>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void run(undefined);
        }}
      >
        <TextField label="Notification" rows={10} value={given.body} onValue={(body) => change({ body })} />
        <Field label="Fiware-Service" value={given.service} onValue={(service) => change({ service })} />
        <Field label="Fiware-ServicePath" value={given.path} onValue={(path) => change({ path })} />
        <Choice label="Content-Type" value={given.type} onValue={(type) => change({ type })} options={contentTypes} />
        <Choice
          label="Source"
          value={given.source}
          onValue={(source) => change({ source })}
          options={[{ value: "", text: "all" }, ...sources.map((name) => ({ value: name, text: name }))]}
        />
        <div class="actions">
          <button type="submit" class="primary" disabled={running || given.body.trim() === ""}>
            {running ? "Explaining …" : "Explain"}
          </button>
        </div>
      </form>
      <Failure failure={failure} />
      {result === undefined ? null : <Result explained={result} />}
    </>
  );
}

function callOf({
  body,
  service,
  path,
  source,
  type,
}: Readonly<Record<"body" | "service" | "path" | "source" | "type", string>>) {
  const headers = {
    "content-type": type,
    ...(service === "" ? {} : { "fiware-service": service }),
    ...(path === "" ? {} : { "fiware-servicepath": path }),
  };
  return { body, headers, ...(source === "" ? {} : { source }) };
}

function Result({ explained: { events, refused, complete } }: { readonly explained: Explained }) {
  return (
    <section aria-labelledby="explained-title">
      <h2 id="explained-title">What would happen</h2>
      {refused.map(({ source, status, reason }) => (
        <Notice key={source} kind="bad">
          Source {source} would refuse it with {status}: {reason}
        </Notice>
      ))}
      {events.length === 0 && refused.length === 0 ? <p>No source has a handler for it.</p> : null}
      {events.map((one, index) => (
        <EventPart key={index} explained={one} number={index + 1} />
      ))}
      {complete ? null : <p class="muted">There is more; only the first events are explained.</p>}
    </section>
  );
}

function EventPart({ explained, number }: { readonly explained: ExplainedEvent; readonly number: number }) {
  const { source, event, channels, sinks } = explained;
  return (
    <article class="panel">
      <h3>
        Event {number} of source {source}
      </h3>
      <p>{channels.length === 0 ? "An interceptor drops it: no channel gets it." : `Into ${channels.join(", ")}.`}</p>
      {sinks.map(({ sink, type, explanation, failure }) => (
        <div key={sink} class="explained-sink">
          <h4>
            Sink {sink} <span class="muted">{type}</span>
          </h4>
          {failure === undefined ? null : <Notice kind="bad">{failure}</Notice>}
          {explanation === undefined ? null : <ExplanationParts explanation={explanation} />}
          {explanation === undefined && failure === undefined ? (
            <p class="muted">This type does not explain itself.</p>
          ) : null}
        </div>
      ))}
      <details>
        <summary>The event</summary>
        <Code text={indented(event)} label={`Event ${number}`} />
      </details>
    </article>
  );
}
