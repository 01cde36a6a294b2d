import { badRequest } from "../refused-call.js";
import type { Fields } from "./fields.js";
import { type Check, empty, missing, refuseFirst } from "./messages.js";

/** Reads a subscription of NGSI v2; the function it returns throws the first refusal. */
export function readV2(subscription: Fields | undefined): () => void {
  const subject = subscription?.object("subject");
  const described = ["description", "expires", "throttling"].flatMap((name) => {
    const text = subscription?.text(name);
    return [missing(name, text), empty(name, text)];
  });
  const checks = [
    ...(subject === undefined || subject.isEmpty ? [] : outlineChecks(subject)),
    ...described,
    missing("subject", subject),
    ...(subject === undefined ? [] : subjectChecks(subject)),
    ...notificationChecks(subscription?.object("notification")),
  ];
  return () => {
    if (subscription === undefined) throw badRequest("Invalid subscription");
    if (subscription.isEmpty) throw badRequest("Missing subscription");
    refuseFirst(checks);
  };
}

function outlineChecks(subject: Fields): readonly Check[] {
  return [missing("entities", subject.list("entities")), missing("condition", subject.object("condition"))];
}

function subjectChecks(subject: Fields): readonly Check[] {
  const entities = subject.objects("entities")?.flatMap((entity) =>
    ["idPattern", "type"].map((name) => {
      return { name, text: entity.text(name) };
    }),
  );
  const condition = subject.object("condition");
  const expression = condition?.object("expression");
  const q = expression?.text("q");
  return [
    [subject.isEmpty, "subject", "is empty"],
    [entities?.length === 0, "entities", "is empty"],
    ...(entities ?? []).map(({ name, text }) => missing(name, text)),
    missing("attrs", condition?.list("attrs")),
    missing("expression", expression),
    missing("q", q),
    ...(entities ?? []).map(({ name, text }) => empty(name, text)),
    empty("q", q),
  ];
}

function notificationChecks(notification: Fields | undefined): readonly Check[] {
  const http = notification?.object("http");
  const url = http?.text("url");
  return [
    missing("notification", notification),
    missing("http", http),
    missing("url", url),
    missing("attrs", notification?.list("attrs")),
    empty("url", url),
  ];
}
