import assert from "node:assert/strict";
import { test } from "node:test";
import { entityOf } from "../../core/ngsi/index.js";
import { codeOf, reasonOf, retryableOf } from "../../core/sdk/index.js";

const value = { kind: "number", text: "1" };
const speed = { name: "speed", type: "Property", form: "normalized", value, members: [] };

const eventWith = (...attributes: readonly unknown[]) => ({
  headers: {},
  body: { id: "urn:car:1", type: "Car", attributes },
});

test("the entity of an event is its body, with several instances, and members in members", () => {
  const unit = { name: "unitCode", value: { kind: "string", text: "KMH" } };
  const event = eventWith(speed, { ...speed, members: [{ ...unit, members: [unit] }, unit], others: [speed, speed] });

  assert.equal(entityOf(event), event.body);
});

test("an entity with an api that there is not is refused for good", () => {
  const { headers, body } = eventWith(speed);

  assert.throws(
    () => entityOf({ headers, body: { ...body, api: "ld" } }),
    /"urn:car:1": its api is neither "v2" nor absent/,
  );
});

for (const { has, attribute, says } of [
  { has: "null as attribute", attribute: null, says: "an item of the attributes is no object" },
  { has: "a text as attribute", attribute: "speed", says: "an item of the attributes is no object" },
  {
    has: "an attribute without name",
    attribute: { ...speed, name: undefined },
    says: "an item of the attributes has no text as name",
  },
  { has: "a number as type", attribute: { ...speed, type: 1 }, says: 'attribute "speed" has no text as type' },
  {
    has: "a bare value",
    attribute: { ...speed, value: 21.5 },
    says: 'attribute "speed" has no value with kind and text',
  },
  {
    has: "a number as text of a value",
    attribute: { ...speed, value: { kind: "number", text: 21.5 } },
    says: 'attribute "speed" has no value with kind and text, both of them texts',
  },
  { has: "no members", attribute: { ...speed, members: undefined }, says: 'attribute "speed" has no list of members' },
  {
    has: "a member without value",
    attribute: { ...speed, members: [{ name: "unitCode" }] },
    says: 'member "unitCode" of attribute "speed" has no value with kind and text',
  },
  {
    has: "members of a member that are no list",
    attribute: { ...speed, members: [{ name: "by", value, members: "none" }] },
    says: 'member "by" of attribute "speed" has members that are no list',
  },
  {
    has: "others that are no list",
    attribute: { ...speed, others: {} },
    says: 'attribute "speed" has others that are no list',
  },
  {
    has: "another instance without value",
    attribute: { ...speed, others: [{ ...speed, value: undefined }] },
    says: 'attribute "speed" has no value with kind and text',
  },
])
  test(`an entity with ${has} is refused for good, and the error names it`, () => {
    assert.throws(
      () => entityOf(eventWith(speed, attribute)),
      (error) => {
        assert.deepEqual([codeOf(error), retryableOf(error)], ["NOT_AN_ENTITY", false]);
        assert.ok(reasonOf(error).startsWith(`storing entity "urn:car:1": ${says}`), reasonOf(error));
        return true;
      },
    );
  });
