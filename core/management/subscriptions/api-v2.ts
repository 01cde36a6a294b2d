import { badRequest } from "../answers.js";
import { type BrokerApi, fiwareHeaders } from "./broker-api.js";
import { type Check, empty, type Fields, missing, throwFirst } from "./fields.js";
import { createdResource, deletedResource, jsonPost, resourcePath } from "./rest-subscriptions.js";

const collection = "/v2/subscriptions";

export const apiV2: BrokerApi = {
  check: readV2,
  creation: (subscription, caller) => jsonPost(collection, subscription, fiwareHeaders(caller)),
  created: createdResource,
  deletion: (id, caller) => ({
    method: "DELETE",
    path: resourcePath(collection, id),
    headers: fiwareHeaders(caller),
  }),
  deleted: deletedResource,
  reading: {
    one: (id, caller) => ({ method: "GET", path: resourcePath(collection, id), headers: fiwareHeaders(caller) }),
    page: ({ limit, offset }, caller) => ({
      method: "GET",
      path: `${collection}?limit=${limit}&offset=${offset}&options=count`,
      headers: fiwareHeaders(caller),
    }),
    countHeader: "fiware-total-count",
  },
};

/** Reads a subscription of NGSI v2; the function it returns throws the error of the first check that fails. */
function readV2(subscription: Fields | undefined): () => void {
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
    throwFirst(checks);
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
