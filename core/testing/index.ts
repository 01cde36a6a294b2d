/**
 * Conformance suites, `deneb/sdk/testing`: lists of `{ name, run }` for any test runner. `run` rejects when the
 * component does not keep its contract.
 */
export { type ChannelConformance, channelConformance, type OpenChannel } from "./channel-conformance.js";
export type { ChannelLimits } from "./channel-fixture.js";
export type { ConformanceCase } from "./conformance-case.js";
export { type EntityNames, markedEvent, markOf } from "./marked-event.js";
export { pluginConformance } from "./plugin-conformance.js";
export type { ConformanceInlet, ConformanceStore, PluginSetup, Values } from "./plugin-setup.js";
