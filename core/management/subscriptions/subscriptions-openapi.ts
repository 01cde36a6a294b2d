import { answer, failure, operation, type Paths, queryParameter, record, schemaRef, text } from "../openapi.js";

const versions = { type: "string", enum: ["1", "2", "ld"] } as const;
const version = queryParameter("ngsi_version", "API of the broker; 1 is deprecated.", versions, true);
const relayed = "The call is invalid, or the broker rejected it; result then holds the answer of the broker.";
const unknown = failure("The broker does not know the subscription.");

const brokerFailures = {
  "502": failure("The broker cannot be reached, failed, or did not answer with JSON."),
  "504": failure("The broker did not answer in time; after a creation the error says what was found there."),
} as const;

const endpointBody = {
  description: "Read as JSON, whatever its content type.",
  required: true,
  content: { "application/json": { schema: schemaRef("Endpoint") } },
} as const;

const reading = operation({
  summary: "Reads one subscription of a broker, or all of them.",
  parameters: [
    version,
    queryParameter("subscription_id", "Without it all subscriptions are read.", { type: "string" }),
  ],
  requestBody: endpointBody,
  responses: {
    "200": answer("The subscription, or the list of all in result.result.", schemaRef("Result")),
    "400": failure(relayed),
    "404": unknown,
    "501": failure("Version 1 does not support reading."),
    ...brokerFailures,
  },
});

/** The operations on subscriptions of a broker. */
export const subscriptionPaths: Paths = {
  "/v1/subscriptions": {
    post: operation({
      summary: "Creates a subscription at a broker.",
      parameters: [version],
      requestBody: {
        description: "Read as JSON, whatever its content type. The subscription is sent to the broker unchanged.",
        required: true,
        content: { "application/json": { schema: schemaRef("NewSubscription") } },
      },
      responses: {
        "200": answer("SubscriptionID, or with version 1 the answer of the broker.", schemaRef("Result")),
        "400": failure(relayed),
        "503": failure("Too many subscriptions are being created."),
        ...brokerFailures,
      },
    }),
    get: reading,
    delete: operation({
      summary: "Deletes a subscription of a broker.",
      parameters: [queryParameter("subscription_id", "The subscription to delete.", { type: "string" }, true), version],
      requestBody: endpointBody,
      responses: {
        "200": answer("The subscription is deleted.", schemaRef("Result")),
        "400": failure(relayed),
        "404": unknown,
        ...brokerFailures,
      },
    }),
  },
  "/v1/subscriptions/list": { post: reading },
};

/** The schemas that these operations refer to. */
export const subscriptionSchemas = {
  Endpoint: record(
    { host: text, port: { type: ["string", "integer"] }, ssl: { enum: ["true", "false", true, false] } },
    {
      path: { type: "string", description: "Path prefix of a broker behind a proxy, for example /orion." },
      xauthtoken: { type: "string", description: "Sent as X-Auth-Token. authToken is the same." },
      authToken: text,
    },
  ),
  NewSubscription: record({ subscription: { type: "object" }, endpoint: schemaRef("Endpoint") }),
};
