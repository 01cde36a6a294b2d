/** A notification that grows with `size`, which is about the number of bytes that grow. */
export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Shape = (size: number) => Sent;

const json = { "content-type": "application/json" };
const sent = (entities: readonly object[], headers: Readonly<Record<string, string>> = {}): Sent => ({
  headers: { ...json, ...headers },
  body: JSON.stringify({ id: "urn:n:1", type: "Notification", data: entities }),
});
const raw = (value: string): Sent => ({
  headers: json,
  body: `{"type":"Notification","data":[{"id":"urn:e:1","type":"T","p":{"type":"Property","value":${value}}}]}`,
});
const entity = (members: object): object => ({ id: "urn:e:1", type: "T", ...members });
const property = (value: unknown): object => ({ type: "Property", value });
const many = <Item>(count: number, make: (index: number) => Item): readonly Item[] =>
  Array.from({ length: Math.ceil(count) }, (_, index) => make(index));
const members = (count: number, make: (index: number) => readonly [string, unknown]): object =>
  Object.fromEntries(many(count, make));
const withName = (name: string): Sent => sent([entity({ [name]: property(1) })]);

/** What strangers may send, by what there is much of. */
export const shapes: Readonly<Record<string, Shape>> = {
  attributes: (size) => sent([entity(members(size / 40, (index) => [`a${index}`, property(index)]))]),
  "attributes that share a column": (size) =>
    sent([entity(members(size / 45, (index) => [letterCases(index), property(index)]))]),
  "simplified attributes": (size) => sent([entity(members(size / 14, (index) => [`a${index}`, index]))]),
  "sub-attributes": (size) =>
    sent([entity({ p: { ...property(1), ...members(size / 45, (index) => [`s${index}`, property(index)]) } })]),
  "plain members": (size) =>
    sent([entity({ p: { ...property(1), ...members(size / 14, (index) => [`m${index}`, index]) } })]),
  instances: (size) =>
    sent([entity({ p: many(size / 60, (index) => ({ ...property(index), datasetId: `urn:d:${index}` })) })]),
  entities: (size) => sent(many(size / 70, (index) => ({ id: `urn:e:${index}`, type: "T", p: property(index) }))),
  "entities of one id": (size) => sent(many(size / 60, (index) => entity({ p: property(index) }))),
  "entities of one id with other attributes": (size) =>
    sent(many(size / 70, (index) => entity({ [`a${index}`]: property(index) }))),
  "blanks in a name": (size) => withName(`a${" ".repeat(size)}b`),
  "blanks at the end of a name": (size) => withName(`a${" ".repeat(size)}`),
  "letters of a name": (size) => withName("Name".repeat(size / 4)),
  "odd characters of a name": (size) => withName("=x0041é".repeat(size / 8)),
  "characters beyond the first plane in a name": (size) => withName("😀".repeat(size / 4)),
  "characters of an id": (size) => sent([{ id: "/é-".repeat(size / 4), type: "T", p: property(1) }]),
  "characters of a type": (size) => sent([{ id: "urn:e:1", type: " x".repeat(size / 2), p: property(1) }]),
  types: (size) => sent([{ id: "urn:e:1", type: many(size / 8, (index) => `T${index}`), p: property(1) }]),
  "characters of a value": (size) => sent([entity({ p: property("x ".repeat(size / 2)) })]),
  "line breaks of a value": (size) => sent([entity({ p: property(" \n ".repeat(size / 3)) })]),
  "escapes of a value": (size) => raw(`"${'\\"\\\\\\u00e9'.repeat(size / 10)}"`),
  "surrogates of a value": (size) => raw(`"${"\\ud83d\\ude00".repeat(size / 12)}"`),
  backslashes: (size) => raw(`"${"\\\\".repeat(size / 2)}"`),
  "digits of a number": (size) => raw("7".repeat(size)),
  "zeros of a number": (size) => raw(`1${"0".repeat(size)}1`),
  "digits behind the point": (size) => raw(`0.${"0".repeat(size)}1`),
  "long numbers": (size) => raw(`[${many(size / 20, (index) => `${index}1234567890123456789`).join(",")}]`),
  "minus signs in texts": (size) => raw(`[${many(size / 30, () => '":-12345678901234567890"').join(",")}]`),
  "elements of a list": (size) => raw(`[${many(size / 8, (index) => String(index)).join(",")}]`),
  "members of an object": (size) => raw(JSON.stringify(members(size / 12, (index) => [`m${index}`, 1]))),
  "short lists in lists": (size) =>
    raw(`[${many(size / 500, () => `${"[".repeat(250)}${"]".repeat(250)}`).join(",")}]`),
  "brackets without an end": (size) => raw("[".repeat(size)),
  "white space between tokens": (size) => raw(`[1,${" \n".repeat(size / 2)}2]`),
  "white space without an end": (size) => ({ headers: json, body: " ".repeat(size) }),
  coordinates: (size) =>
    sent([
      {
        id: "urn:e:1",
        type: "Feature",
        geometry: { type: "LineString", coordinates: many(size / 30, (index) => [index, index]) },
        properties: {
          type: "T",
          ...members(size / 100, (index) => [
            `g${index}`,
            { type: "GeoProperty", value: { type: "Point", coordinates: [index, 0] } },
          ]),
        },
      },
    ]),
  metadata: (size) =>
    sent([
      entity({
        p: {
          type: "Number",
          value: 1,
          metadata: members(size / 40, (index) => [`m${index}`, { type: "T", value: index }]),
        },
      }),
    ]),
  "attributes of NGSI v1": (size) => v1(many(size / 45, (index) => ({ name: `a${index}`, type: "T", value: index }))),
  "attributes of NGSI v1 with one name": (size) =>
    v1(many(size / 45, (index) => ({ name: "a", type: "T", value: index }))),
  "characters of Link": (size) => withHeader("link", `<${"a".repeat(size)}>; rel="x"`),
  "open brackets in Link": (size) => withHeader("link", "<".repeat(size)),
  "empty brackets in Link": (size) => withHeader("link", "<>".repeat(size / 2)),
  "blanks in a format header": (size) => withHeader("ngsiv2-attrsformat", `${" ".repeat(size)}x`),
  "blanks in a content type": (size) => withHeader("content-type", `application/json;${" ".repeat(size)}a=b`),
  "blanks in a charset": (size) => withHeader("content-type", `application/json;charset=${" ".repeat(size)}x`),
  "service paths": (size) => withHeader("fiware-servicepath", many(size / 3, () => "/a").join(",")),
  headers: (size) =>
    sent([entity({ p: property(1) })], Object.fromEntries(many(size / 20, (index) => [`x-header-${index}`, "a"]))),
};

function withHeader(name: string, value: string): Sent {
  return sent([entity({ p: property(1) })], { [name]: value });
}

function v1(attributes: readonly object[]): Sent {
  return {
    headers: json,
    body: JSON.stringify({ contextResponses: [{ contextElement: { id: "e", type: "T", attributes } }] }),
  };
}

/** Names of sixteen letters that differ in letter case only. */
function letterCases(index: number): string {
  return Array.from({ length: 16 }, (_, bit) => ((index >> bit) % 2 === 0 ? "a" : "A")).join("");
}
