import assert from "node:assert/strict";
import { test } from "node:test";
import { mappingsJson, readMappingsDocument } from "../../../core/ngsi/mappings/document.js";
import { addMappings, type MappingEdit, removeMappings, updateMappings } from "../../../core/ngsi/mappings/edits.js";

const read = (serviceMapping: readonly object[]) => readMappingsDocument(JSON.stringify({ serviceMapping }));
const after = (edit: MappingEdit, there: readonly object[], given: readonly object[]) =>
  mappingsJson(edit(read(there), read(given)));

const a = { originalService: "a", newService: "A" };
const b = { originalService: "b" };
const path = { originalServicePath: "/p", newServicePath: "/q" };

const cases = [
  { says: "adding appends what is absent", edit: addMappings, there: [a], given: [b], result: [a, b] },
  {
    says: "adding keeps the new name of what is there",
    edit: addMappings,
    there: [a],
    given: [{ ...a, newService: "other" }],
    result: [a],
  },
  {
    says: "adding goes down into what is there",
    edit: addMappings,
    there: [a],
    given: [{ originalService: "a", servicePathMappings: [path] }],
    result: [{ ...a, servicePathMappings: [path] }],
  },
  { says: "adding the same twice adds it once", edit: addMappings, there: [], given: [b, b], result: [b] },
  {
    says: "updating gives new names to what is there and adds nothing",
    edit: updateMappings,
    there: [{ ...b, servicePathMappings: [path] }],
    given: [{ originalService: "b", newService: "B", servicePathMappings: [{ originalServicePath: "/other" }] }, a],
    result: [{ originalService: "b", newService: "B", servicePathMappings: [path] }],
  },
  {
    says: "updating below leaves a new name above that is not given",
    edit: updateMappings,
    there: [{ ...a, servicePathMappings: [path] }],
    given: [{ originalService: "a", servicePathMappings: [{ originalServicePath: "/p", newServicePath: "/r" }] }],
    result: [{ ...a, servicePathMappings: [{ originalServicePath: "/p", newServicePath: "/r" }] }],
  },
  { says: "removing takes what is named", edit: removeMappings, there: [a, b], given: [b], result: [a] },
  { says: "removing what is absent changes nothing", edit: removeMappings, there: [a], given: [b], result: [a] },
  {
    says: "an empty list below counts as none: the mapping itself goes",
    edit: removeMappings,
    there: [{ ...a, servicePathMappings: [path] }],
    given: [{ originalService: "a", servicePathMappings: [] }],
    result: [],
  },
  {
    says: "removing below keeps what is above",
    edit: removeMappings,
    there: [{ ...a, servicePathMappings: [path] }],
    given: [{ originalService: "a", servicePathMappings: [{ originalServicePath: "/p" }] }],
    result: [{ ...a, servicePathMappings: [] }],
  },
  {
    says: "an original name that is not given is the one that matches everything",
    edit: removeMappings,
    there: [{ newService: "x" }, a],
    given: [{ originalService: "^(.*)" }],
    result: [a],
  },
  {
    says: "two attribute mappings of one name and different types are two",
    edit: removeMappings,
    there: inEntity([{ originalAttributeName: "t", originalAttributeType: "A" }, { originalAttributeName: "t" }]),
    given: inEntity([{ originalAttributeName: "t", originalAttributeType: "A" }]),
    result: inEntity([{ originalAttributeName: "t" }]),
  },
];
for (const { says, edit, there, given, result } of cases)
  test(says, () => assert.deepEqual(after(edit, there, given), result));

function inEntity(attributeMappings: readonly object[]): readonly object[] {
  return [{ servicePathMappings: [{ entityMappings: [{ attributeMappings }] }] }];
}
