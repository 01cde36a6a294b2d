/**
 * The public contract of Deneb, `deneb/sdk`: everything a plugin needs, and nothing of the agent itself.
 * Start reading at {@link definePlugin}, then the kind you want to write, then the lifecycle law in {@link Lifecycle}.
 */
export { API_VERSION } from "./api-version.js";
export { type BatchSinkParts, batchSink } from "./batch-sink.js";
export type { Channel, PutTransaction, TakeTransaction, Transaction, Waiting } from "./channel.js";
export type {
  ChannelContext,
  Context,
  FolderClaim,
  FolderLock,
  HealthReport,
  IncomingTransaction,
  Logger,
  MetricCounter,
  MetricGauge,
  MetricLabels,
  Metrics,
  SelectorContext,
  SourceContext,
} from "./context.js";
export {
  type AnyPlugin,
  type ContextOf,
  definePlugin,
  type Filled,
  type Kind,
  type Kinds,
  type PluginDefinition,
  type PropertyFault,
  type Slots,
} from "./define-plugin.js";
export {
  AgentError,
  type AgentErrorOptions,
  codeOf,
  positionFaults,
  RejectedDelivery,
  reasonOf,
  retryAfterOf,
  retryableOf,
  type Sender,
} from "./errors.js";
export { type Event, letterHeader } from "./event.js";
export type { ExplainedStatement, ExplainedWrite, Explanation } from "./explanation.js";
export type { Interceptor } from "./interceptor.js";
export type { Lifecycle } from "./lifecycle.js";
export type { Accepted, Receive, Reception, Refuse, Refused, SourceRefusal } from "./reception.js";
export type { ConfigOf, FormatName, Formats, Property, Schema } from "./schema.js";
export type { ChannelSelector, Selection } from "./selector.js";
export type { Batch, QueryResult, Receipt, Sink, StoredSummary } from "./sink.js";
export type { SinkProcessor } from "./sink-processor.js";
export type { Decoded, Delivery, Emit, Handler, Handover, Source } from "./source.js";
export type { Spelling } from "./spelling.js";
