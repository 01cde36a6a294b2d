import { useState } from "preact/hooks";
import { calls, session } from "../../live/page-state.js";
import { useWatched } from "../../live/watched.js";
import { Choice, Field } from "../../parts/field.js";
import { Changing, Failure, View } from "../../parts/small.js";
import { useCall } from "../../parts/use-call.js";
import { SubscriptionList } from "./subscription-list.js";

/** What a reader gives to reach a broker. */
interface Broker {
  readonly version: string;
  readonly host: string;
  readonly port: string;
  readonly ssl: string;
  readonly path: string;
  readonly service: string;
  readonly servicePath: string;
  readonly token: string;
}

const versions = [
  { value: "2", text: "NGSI v2" },
  { value: "ld", text: "NGSI-LD" },
] as const;

/** The subscriptions of a broker that the agent is allowed to call. */
export function SubscriptionsView() {
  const { brokerTargets } = useWatched(session);
  return (
    <View title="Broker subscriptions">
      <p>Lists the subscriptions of a context broker: does it send notifications here, and when did it last?</p>
      <Changing what="Calling a broker">
        {brokerTargets.length === 0 ? (
          <p class="read-only">
            No broker may be called. Start the agent with <code>--broker-targets</code> (
            <code>DENEB_BROKER_TARGETS</code>).
          </p>
        ) : (
          <Brokers targets={brokerTargets} />
        )}
      </Changing>
    </View>
  );
}

function Brokers({ targets }: { readonly targets: readonly string[] }) {
  const [given, setGiven] = useState<Broker>(brokerOf(targets));
  const change = (more: Partial<Broker>) => setGiven({ ...given, ...more });
  const text = (name: keyof Broker, label: string) => (
    <Field label={label} value={given[name]} onValue={(value) => change({ [name]: value })} />
  );
  const list = useCall<Broker, readonly unknown[]>(async (broker, signal) => listOf(broker, signal));
  return (
    <>
      <p class="muted">Allowed: {targets.join(", ")}</p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void list.run(given);
        }}
      >
        <Choice label="API" value={given.version} onValue={(version) => change({ version })} options={versions} />
        {text("host", "Host")}
        {text("port", "Port")}
        <Choice
          label="Scheme"
          value={given.ssl}
          onValue={(ssl) => change({ ssl })}
          options={[
            { value: "false", text: "http" },
            { value: "true", text: "https" },
          ]}
        />
        {text("path", "Path prefix")}
        {text("service", "Fiware-Service")}
        {text("servicePath", "Fiware-ServicePath")}
        <Field label="X-Auth-Token" type="password" value={given.token} onValue={(token) => change({ token })} />
        <div class="actions">
          <button type="submit" class="primary" disabled={list.running || given.host === ""}>
            {list.running ? "Asking the broker …" : "List"}
          </button>
        </div>
      </form>
      <Failure failure={list.failure} />
      {list.result === undefined ? null : <SubscriptionList subscriptions={list.result} />}
    </>
  );
}

/** The first target that names one host, as the beginning of the form. */
function brokerOf(targets: readonly string[]): Broker {
  const [, host = "", port = "1026", path = ""] =
    targets.map((target) => /^([^*:/]+)(?::(\d+))?(\/.*)?$/.exec(target)).find((match) => match !== null) ?? [];
  return { version: "2", host, port, ssl: "false", path, service: "", servicePath: "", token: "" };
}

async function listOf(broker: Broker, signal: AbortSignal): Promise<readonly unknown[]> {
  const { version, host, port, ssl, path, service, servicePath, token } = broker;
  const headers = {
    ...(service === "" ? {} : { "Fiware-Service": service }),
    ...(servicePath === "" ? {} : { "Fiware-ServicePath": servicePath }),
  };
  const body = { host, port, ssl, ...(path === "" ? {} : { path }), ...(token === "" ? {} : { xauthtoken: token }) };
  const query = { ngsi_version: version };
  const { result } = await calls.ask<{ result: { result: unknown } }>("POST", "/v1/subscriptions/list", {
    query,
    body,
    headers,
    signal,
  });
  const list = Array.isArray(result) ? result : result.result;
  return Array.isArray(list) ? list : [];
}
