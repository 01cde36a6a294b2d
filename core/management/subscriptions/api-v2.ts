import { badRequest } from "../answers.js";
import { type BrokerApi, fiwareHeaders } from "./broker-api.js";
import { type Check, empty, type Fields, missing, throwFirst } from "./fields.js";
import { createdResource, deletedResource, jsonPost, resourcePath } from "./rest-subscriptions.js";

const collection = "/v2/subscriptions";

export const apiV2: BrokerApi = {
  check: readV2,
  creation: (subscription, caller) => jsonPost(collection, subscription.text, fiwareHeaders(caller)),
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

/**
 * Reads a subscription of NGSI v2; the function it returns throws the error of the first check that fails. Checked is
 * what every broker requires: entities with an id or a pattern, and where to notify. The broker judges the rest.
 */
function readV2(subscription: Fields | undefined): () => void {
  const subject = subscription?.object("subject");
  const described = ["description", "expires", "throttling"].map((name) => empty(name, subscription?.text(name)));
  const checks = [
    ...(subject === undefined || subject.isEmpty ? [] : [missing("entities", subject.list("entities"))]),
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

function subjectChecks(subject: Fields): readonly Check[] {
  const entities = subject.objects("entities")?.map((entity) => ({
    id: entity.text("id") ?? entity.text("idPattern"),
    texts: ["id", "idPattern", "type", "typePattern"].map((name) => empty(name, entity.text(name))),
  }));
  const condition = subject.object("condition");
  condition?.list("attrs");
  const q = condition?.object("expression")?.text("q");
  return [
    [subject.isEmpty, "subject", "is empty"],
    [entities?.length === 0, "entities", "is empty"],
    ...(entities ?? []).map(({ id }) => missing("idPattern", id)),
    ...(entities ?? []).flatMap(({ texts }) => texts),
    empty("q", q),
  ];
}

/** The members that say where to notify; each has a URL. */
const receivers = ["http", "httpCustom", "mqtt", "mqttCustom", "kafka", "kafkaCustom"] as const;

function notificationChecks(notification: Fields | undefined): readonly Check[] {
  notification?.list("attrs");
  const name = receivers.find((receiver) => notification?.has(receiver)) ?? "http";
  const receiver = notification?.object(name);
  const url = receiver?.text("url");
  return [missing("notification", notification), missing(name, receiver), missing("url", url), empty("url", url)];
}
