import assert from "node:assert/strict";
import { test } from "node:test";
import { readNameMappingsFile } from "../../../core/ngsi/index.js";
import { mappingsJson, nameMappingsText } from "../../../core/ngsi/mappings/document.js";

const contents = (text: string) => mappingsJson(readNameMappingsFile(text).mappings);

test("lines that start with # are comments, wherever they are", () => {
  const text = '# head\n{"serviceMappings": [\n# inside\n{"originalService": "a#b"}\n]}\n';

  assert.deepEqual(contents(text), [{ originalService: "a#b" }]);
});

for (const text of ["", "\n\n", "# all of it\n# is a comment\n"])
  test(`a file of ${JSON.stringify(text)} has no mappings`, () => assert.deepEqual(contents(text), []));

test("what is written is read again: backslashes, quotes, absent names and the comments before", () => {
  const node = { originalService: 'suite.(\\d*)"x"', servicePathMappings: [{ entityMappings: [] }] };
  const file = readNameMappingsFile(`# one\n\n# two\n${JSON.stringify({ serviceMapping: [node] })}`);

  const text = nameMappingsText(file);

  assert.deepEqual(contents(text), [node]);
  assert.equal(nameMappingsText(readNameMappingsFile(text)), text);
  assert.ok(text.startsWith("# one\n\n# two\n{"));
  assert.ok(!text.includes("null"));
});

test("a member that is null is not there", () => {
  assert.deepEqual(contents('{"serviceMappings":[{"originalService":"a","newService":null}]}'), [
    { originalService: "a" },
  ]);
});

const refused = [
  { text: "{", code: "MALFORMED_JSON" },
  { text: "[]", code: "NOT_NAME_MAPPINGS" },
  { text: "{}", code: "NOT_NAME_MAPPINGS" },
  { text: '{"serviceMappings":null}', code: "NOT_NAME_MAPPINGS" },
  { text: '{"serviceMappings":[null]}', code: "NOT_NAME_MAPPINGS" },
  { text: '{"serviceMappings":[{"newService":1}]}', code: "NOT_NAME_MAPPINGS" },
  { text: '{"serviceMappings":[{"servicePathMappings":{}}]}', code: "NOT_NAME_MAPPINGS" },
] as const;
for (const { text, code } of refused)
  test(`${text} is refused with ${code}`, () => assert.throws(() => readNameMappingsFile(text), { code }));
