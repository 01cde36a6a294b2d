/**
 * What tests of plugins use, `deneb/sdk/testing`: the conformance suites of core/testing, and an agent in the process of
 * the test.
 */
export * from "../testing/index.js";
export type { AgentConfiguration, ComponentValues, ConfigurationValue } from "./agent-configuration.js";
export { type SampleNotification, sampleNotifications } from "./sample-notifications.js";
export {
  type InjectAnswer,
  type InjectedRequest,
  type KeptLetter,
  type TestAgent,
  type TestAgentOptions,
  type TestLogLine,
  testAgent,
} from "./test-agent.js";
