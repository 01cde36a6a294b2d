import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeFile } from "../../../core/configuration/file/decode.js";

const text = "a1.sinks = s\r\n# señal\r\n";
const utf16be = Buffer.from(`\uFEFF${text}`, "utf16le").swap16();

const cases = [
  { what: "UTF-8", bytes: Buffer.from(text), decoded: { text } },
  { what: "UTF-8 with a byte order mark", bytes: Buffer.from(`\uFEFF${text}`), decoded: { text } },
  { what: "UTF-16 little endian", bytes: Buffer.from(`\uFEFF${text}`, "utf16le"), decoded: { text } },
  { what: "UTF-16 big endian", bytes: utf16be, decoded: { text } },
  {
    what: "ISO 8859-1",
    bytes: Buffer.from(text, "latin1"),
    decoded: { text: text.replace("ñ", "\uFFFD"), latin1: text },
  },
];
for (const { what, bytes, decoded } of cases)
  test(`a file in ${what} is decoded`, () => assert.deepEqual(decodeFile(bytes), decoded));
