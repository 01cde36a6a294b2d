import { many, moment } from "../../parts/format.js";
import { Code, indented } from "../explanation.js";

export function SubscriptionList({ subscriptions }: { readonly subscriptions: readonly unknown[] }) {
  return (
    <section aria-labelledby="subscriptions-title">
      <h2 id="subscriptions-title">{many(subscriptions.length, "subscription")}</h2>
      <ul class="subscriptions">
        {subscriptions.map((subscription, index) => (
          <Item key={index} subscription={subscription} />
        ))}
      </ul>
    </section>
  );
}

/** What a broker says may have any form: each member is looked at before it is shown. */
function Item({ subscription }: { readonly subscription: unknown }) {
  const id = textOf(memberOf(subscription, "id"));
  const notification = memberOf(subscription, "notification") ?? subscription;
  const fact = (name: string) => textOf(memberOf(notification, name));
  const url = [
    ...["http", "httpCustom", "mqtt", "mqttCustom", "kafka", "kafkaCustom"].map((name) =>
      memberOf(memberOf(notification, name), "url"),
    ),
    memberOf(memberOf(notification, "endpoint"), "uri"),
  ]
    .map(textOf)
    .find((one) => one !== undefined);
  const [sent, last, success, failure] = ["timesSent", "lastNotification", "lastSuccess", "lastFailure"].map(fact);
  return (
    <li class="panel">
      <p>
        <b>{textOf(memberOf(subscription, "description")) ?? id ?? "A subscription"}</b>{" "}
        <Status status={textOf(memberOf(subscription, "status"))} />
      </p>
      <p class="muted">
        {id}
        {url === undefined ? "" : ` to ${url}`}
      </p>
      <p>
        {sent === undefined ? "" : `${sent} sent. `}
        {last === undefined ? "" : `Last ${moment(last)}. `}
        {success === undefined ? "" : `Last success ${moment(success)}. `}
        {failure === undefined ? "" : `Last failure ${moment(failure)} ${fact("lastFailureReason") ?? ""}`}
      </p>
      <details>
        <summary>All of it</summary>
        <Code text={indented(subscription)} label="The subscription" />
      </details>
    </li>
  );
}

function Status({ status }: { readonly status: string | undefined }) {
  if (status === undefined) return null;
  return <span class={`mark ${status === "active" ? "up" : "degraded"}`}>{status}</span>;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return new Map(Object.entries(value)).get(name);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
