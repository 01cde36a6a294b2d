import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf } from "../../../core/sdk/index.js";
import { v1Of } from "./from-text.js";

const responded = (...responses: readonly string[]) =>
  `{"subscriptionId":"51c0","originator":"localhost","contextResponses":[${responses.join(",")}]}`;

test("each context element is an entity with its attributes and metadata in their order", () => {
  const text = responded(
    '{"contextElement":{"attributes":[{"name":"speed","type":"float","value":"112.9","metadatas":' +
      '[{"name":"unit","type":"Text","value":"km/h"}]},{"name":"n","value":23.0}],"type":"car","isPattern":"false",' +
      '"id":"car1"},"statusCode":{"code":"200","reasonPhrase":"OK"}}',
  );

  assert.deepEqual(v1Of(text), {
    subscriptionId: "51c0",
    entities: [
      {
        id: "car1",
        type: "car",
        api: "v2",
        attributes: [
          {
            name: "speed",
            type: "float",
            form: "normalized",
            value: { kind: "string", text: "112.9" },
            members: [{ name: "unit", type: "Text", value: { kind: "string", text: "km/h" } }],
          },
          { name: "n", form: "normalized", value: { kind: "number", text: "23.0" }, members: [] },
        ],
      },
    ],
  });
});

const lenient = [
  { what: "no status code, attributes or type", response: '{"contextElement":{"id":"e"}}', ids: ["e"] },
  {
    what: "a status code that is no success",
    response: '{"contextElement":{"id":"e"},"statusCode":{"code":404}}',
    ids: ["e"],
  },
  { what: "an entityId", response: '{"contextElement":{"entityId":{"id":"e","type":"T"}}}', ids: ["e"] },
  { what: "a status code alone", response: '{"statusCode":{"code":"404"}}', ids: [] },
] as const;
for (const { what, response, ids } of lenient) {
  test(`a response with ${what} gives ${ids.length} entities`, () => {
    const { entities } = v1Of(responded(response));

    assert.deepEqual(
      entities.map(({ id }) => id),
      ids,
    );
  });
}

const refusals = [
  { text: "1", says: /the body is the number 1, not a JSON object/ },
  { text: '{"data":[]}', says: /"contextResponses" is missing, not a list/ },
  { text: '{"contextRegistrationResponses":[]}', says: /"contextResponses" is missing/ },
  { text: responded("1"), says: /contextResponses\[0\] is the number 1, not an object/ },
  { text: responded("{}"), says: /"contextElement" of contextResponses\[0\] is missing/ },
  { text: responded('{"contextElement":{}}'), says: /"id" of contextResponses\[0\] is missing/ },
  {
    text: responded('{"contextElement":{"id":"e","type":1}}'),
    says: /"type" of contextResponses\[0\] is the number 1/,
  },
  {
    text: responded('{"contextElement":{"id":"e","attributes":{}}}'),
    says: /"attributes" of .* is an object, not a list/,
  },
  { text: responded('{"contextElement":{"id":"e","attributes":[{}]}}'), says: /"name" of an attribute of/ },
  {
    text: responded('{"contextElement":{"id":"e","attributes":[{"name":"a","metadatas":[1]}]}}'),
    says: /a metadata item of attribute "a" .* is the number 1/,
  },
] as const;
for (const { text, says } of refusals) {
  test(`${text} is refused: ${says.source}`, () => {
    assert.throws(
      () => v1Of(text),
      (error: Error) => codeOf(error) === "NOT_A_NOTIFICATION" && says.test(error.message),
    );
  });
}
