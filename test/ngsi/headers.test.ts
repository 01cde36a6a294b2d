import assert from "node:assert/strict";
import { test } from "node:test";
import {
  attrsFormatOf,
  correlatorOf,
  type HeaderFields,
  ldFormatOf,
  linkOf,
  serviceOf,
} from "../../core/ngsi/headers.js";

/** A field as node hands it on: its UTF-8 bytes, one character each. */
const received = (text: string): string => Buffer.from(text).toString("latin1");

const services: readonly (readonly [what: string, headers: HeaderFields, service: string])[] = [
  ["fiware-service comes first", { "fiware-service": "OpenIoT", "ngsild-tenant": "t" }, "OpenIoT"],
  ["ngsild-tenant comes second", { "ngsild-tenant": "t" }, "t"],
  ["an empty field counts as absent", { "fiware-service": "", "ngsild-tenant": "t" }, "t"],
  ["the default comes last", { "fiware-service": "", "ngsild-tenant": "" }, "def"],
  ["the bytes of a field are UTF-8", { "fiware-service": received("ciudad-ñ-市") }, "ciudad-ñ-市"],
  ["bytes that are not UTF-8 stay Latin-1", { "fiware-service": "ciudad-ñ" }, "ciudad-ñ"],
  ["characters beyond Latin-1 stay", { "fiware-service": "ñ市" }, "ñ市"],
];
for (const [what, headers, service] of services) {
  test(`of the tenant, ${what}`, () => assert.equal(serviceOf(headers, "def"), service));
}

const links: readonly (readonly [link: string | undefined, address: string | undefined])[] = [
  ['<https://example.org/c.jsonld>; rel="x"; type="application/ld+json"', "https://example.org/c.jsonld"],
  ["<https://example.org/c.jsonld>", "https://example.org/c.jsonld"],
  ['rel="x"; <https://example.org/c.jsonld>', undefined],
  ["https://example.org/c.jsonld", undefined],
  ["<>", undefined],
  ["", undefined],
  [undefined, undefined],
];
for (const [link, address] of links) {
  test(`the link ${link} names ${address}`, () => assert.equal(linkOf(link === undefined ? {} : { link }), address));
}

test("the correlator of the broker is kept, and made up for when absent or empty", () => {
  assert.equal(correlatorOf({ "fiware-correlator": "b08b; cbnotif=1" }, "own"), "b08b; cbnotif=1");
  assert.equal(correlatorOf({ "fiware-correlator": "" }, "own"), "own");
  assert.equal(correlatorOf({}, "own"), "own");
});

const hints: readonly (readonly [headers: HeaderFields, hint: string | undefined])[] = [
  [{}, undefined],
  [{ "ngsild-attribute-format": "Normalized" }, "normalized"],
  [{ "ngsild-attribute-format": "Concise" }, "concise"],
  [{ "ngsild-attribute-format": "Simplified" }, "simplified"],
  [{ "ngsild-attribute-format": "keyValues" }, "simplified"],
  [{ "ngsild-attribute-format": "other" }, undefined],
  [{ "ngsiv2-attrsformat": "keyValues" }, "simplified"],
  [{ "ngsiv2-attrsformat": "simplifiedKeyValues" }, "simplified"],
  [{ "ngsiv2-attrsformat": "normalized" }, undefined],
  [{ "ngsild-attribute-format": "Normalized", "ngsiv2-attrsformat": "keyValues" }, "normalized"],
];
const statements = [
  { stated: "keyValues", sent: undefined, format: "keyValues" },
  { stated: "normalized", sent: undefined, format: "normalized" },
  { stated: "keyValues", sent: "Simplified", format: "keyValues" },
  { stated: "keyValues", sent: "Normalized", format: "normalized" },
  { stated: "normalized", sent: "Simplified", format: "simplified" },
] as const;
for (const { stated, sent, format } of statements) {
  test(`attributes are read as ${format} where ${stated} is configured and the header says ${sent}`, () =>
    assert.equal(ldFormatOf(sent === undefined ? {} : { "ngsild-attribute-format": sent }, stated), format));
}

test("the format of NGSI v2 is the configured one only where no header says it", () => {
  assert.equal(attrsFormatOf({}, "keyValues"), "keyValues");
  assert.equal(attrsFormatOf({ "ngsiv2-attrsformat": "normalized" }, "keyValues"), "normalized");
  assert.equal(attrsFormatOf({}, "auto"), undefined);
});

for (const [headers, hint] of hints) {
  test(`${JSON.stringify(headers)} hints at ${hint}`, () => assert.equal(ldFormatOf(headers), hint));
}
