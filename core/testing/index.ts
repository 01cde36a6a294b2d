/**
 * Conformance suites, `deneb/sdk/testing`: lists of `{ name, run }` for any test runner. `run` rejects when the
 * component does not fulfil its contract.
 */
export { type ChannelPromises, channelConformance } from "./channel/conformance.js";
export type { ChannelLimits } from "./channel-fixture.js";
export { logConformance } from "./log/conformance.js";
export { markOf } from "./marked-event.js";
export { pluginConformance } from "./plugin-conformance.js";
export type {
  AcceptedRequest,
  ChannelSetup,
  ConformanceCase,
  ConformanceInlet,
  ConformanceLogs,
  ConformanceStore,
  PluginSetup,
  StoreAddress,
  Values,
} from "./plugin-setup.js";
