import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { serversOf } from "./servers-of.js";
import { setOf } from "./sets.js";

test("a measurement starts the servers of its own cases: the release guard has no Kafka beside it, and scaling out has", () => {
  deepEqual([...serversOf([setOf(["guard"], [])])], ["postgresql"]);
  deepEqual([...serversOf([setOf(["scale"], [])])].toSorted(), ["kafka", "nats", "postgresql"]);
  deepEqual([...serversOf([setOf(["standard"], [])])].toSorted(), ["mysql", "postgresql"]);
  deepEqual([...serversOf([setOf(["ceilings"], [])])].toSorted(), ["mysql", "postgresql"]);
  deepEqual([...serversOf([])], ["postgresql"], "recorded bodies, which are read later");
});
