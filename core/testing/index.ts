/**
 * Conformance suites, `deneb/sdk/testing`: lists of `{ name, run }` for any test runner. `run` rejects when the
 * component does not keep its contract.
 */
export { type ChannelConformance, channelConformance, type OpenChannel } from "./channel-conformance.js";
export type { ChannelLimits } from "./channel-fixture.js";
