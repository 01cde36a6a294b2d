import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeName, lowerCase, replaceOdd } from "../../../core/ngsi/names/encoding.js";

const encoded = [
  { name: "abcxyz019_", text: "abcxyz019_" },
  { name: "Car", text: "x0043ar" },
  { name: "/:-. é", text: "x002fx003ax002dx002ex0020x00e9" },
  { name: "id=type", text: "idxfffftype" },
  { name: "😀", text: "xd83dxde00" },
  { name: "x0041", text: "xx0041" },
  { name: "xffff", text: "xxffff" },
  { name: "x123", text: "x123" },
  { name: "abcx1234", text: "abcxx1234" },
  { name: "xABCD", text: "xxx0041x0042x0043x0044" },
  { name: "urn:ngsi-ld:Vehicle:V123", text: "urnx003angsix002dldx003ax0056ehiclex003ax0056123" },
] as const;
for (const { name, text } of encoded) {
  test(`${name} is encoded as ${text}`, () => assert.equal(encodeName(name), text));
}

const replaced = [
  { name: "smart-city.es", kept: "dots and dashes", text: "smart-city.es" },
  { name: "smart city/a=b", kept: "dots and dashes", text: "smart_city_a_b" },
  { name: "smart-city.es", kept: "nothing else", text: "smart_city_es" },
  { name: "urn:é:😀", kept: "nothing else", text: "urn____" },
] as const;
for (const { name, kept, text } of replaced) {
  test(`${name} becomes ${text} where ${kept} are kept`, () => assert.equal(replaceOdd(name, kept), text));
}

test("only ASCII letters are put in lower case", () => assert.equal(lowerCase("ÑAndU İI"), "Ñandu İi"));
