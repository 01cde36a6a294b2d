import { test } from "node:test";
import { pluginConformance } from "deneb/sdk/testing";
import { setup } from "./conformance.js";
import plugin from "./index.js";

for (const { name, run } of await pluginConformance(plugin, setup)) test(name, run);
