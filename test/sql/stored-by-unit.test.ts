import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf } from "../../core/sdk/errors.js";
import { AgentError, type Event } from "../../core/sdk/index.js";
import { storedByUnit } from "../../core/sql/stored-by-unit.js";

const events: readonly Event[] = ["a1", "b1", "a2", "b2"].map((body) => ({ headers: {}, body }));
const unitOf = ({ body }: Event) => String(body).slice(0, 1);
const away = (retryable: boolean) => new AgentError("AWAY", "reading", { retryable });

interface Setting {
  readonly failing: readonly string[];
  readonly retryable?: boolean;
  readonly storeAnswers?: boolean;
}

const asked = (setting: Setting) =>
  storedByUnit(events, {
    unitOf,
    stored: async (own) => {
      if (own.some((event) => setting.failing.includes(unitOf(event)))) throw away(setting.retryable ?? true);
      return own.slice(0, 1);
    },
    probe: async () => {
      if (setting.storeAnswers === false) throw away(true);
    },
  });

test("what is stored is asked in each commit unit", async () => {
  assert.deepEqual(await asked({ failing: [] }), [events[0], events[1]]);
});

const cases = [
  { says: "one unit that cannot be read has its events named", failing: ["b"], named: [events[1], events[3]] },
  {
    says: "all events are named where the store can be used and none of their units",
    failing: ["a", "b"],
    named: events,
  },
  { says: "no event is named while the store cannot be used", failing: ["a", "b"], storeAnswers: false },
  { says: "no event is named where a unit refuses to be asked for good", failing: ["b"], retryable: false },
] as const;

test("a position of another agent is no matter of one unit", async () => {
  const conflict = new AgentError("POSITION_CONFLICT", "reading", { retryable: true });
  const stored = async () => Promise.reject(conflict);

  const error = await storedByUnit(events, { unitOf, stored, probe: async () => {} }).catch(
    (thrown: unknown) => thrown,
  );

  assert.equal(error, conflict);
});

for (const { says, ...one } of cases)
  test(says, async () => {
    const error = await asked(one).catch((thrown: unknown) => thrown);

    const named = eventsOf(error);
    assert.deepEqual(Array.isArray(named) ? new Set(named) : named, "named" in one ? new Set(one.named) : undefined);
    assert.equal(error instanceof AgentError && error.retryable, !("retryable" in one));
  });
