import assert from "node:assert/strict";
import { test } from "node:test";
import { dataModels, parseDataModel } from "../../../core/ngsi/names/naming.js";

for (const model of dataModels) {
  test(`${model} is read in any letter case, with and without hyphens`, () => {
    for (const text of [model, model.toUpperCase(), model.replaceAll("-", "")]) {
      assert.equal(parseDataModel(text), model);
    }
  });
}

test("DMByEntityType is dm-by-entity-type", () => assert.equal(parseDataModel("DMByEntityType"), "dm-by-entity-type"));

for (const text of ["", "by-entity", "dm_by_entity", "constructor"]) {
  test(`"${text}" is no data model`, () => assert.equal(parseDataModel(text), undefined));
}
