/**
 * The public contract of Deneb, `deneb/sdk`: everything a plugin needs, and nothing of the agent itself.
 * Start reading at {@link definePlugin}, then the kind you want to write, then the lifecycle law in {@link Lifecycle}.
 */

export { addressText } from "./address.js";
export type { ApiVersions } from "./api-versions.js";
export { acceptedAtOnce } from "./at-once.js";
export { type BatchSinkParts, type BatchSinkWrite, batchSink } from "./batch-sink.js";
export type {
  Channel,
  ChannelSelector,
  PutTransaction,
  Putting,
  Selection,
  ServiceHolding,
  TakePositions,
  TakeTransaction,
  Waiting,
} from "./channel.js";
export type {
  ChannelContext,
  Context,
  FolderLock,
  HealthReport,
  IncomingTransaction,
  Logger,
  MetricCounter,
  MetricGauge,
  MetricHistogram,
  MetricLabels,
  Metrics,
  SelectorContext,
  SourceContext,
} from "./context.js";
export {
  type AnyPlugin,
  API_VERSION,
  type DeclaredRefusal,
  definePlugin,
  type FaultOf,
  type Kind,
  type Kinds,
  type PluginDefinition,
  type PropertyFault,
  type Reread,
  type RunsIn,
  type Slots,
  type Spelling,
} from "./define-plugin.js";
export {
  AgentError,
  codeOf,
  type FailedEvents,
  positionFaults,
  RejectedRequest,
  reasonOf,
  retryAfterOf,
  retryableOf,
  type Sender,
} from "./errors.js";
export { type Event, type Interceptor, type InterceptorTuning, letterHeader } from "./event.js";
export { type FailureLine, FailureLog } from "./failure-log.js";
export { type Followed, followFiles } from "./follow-files.js";
export { HeldInput, type HeldInputParts } from "./held-input.js";
export type { BatchSinkPositions, KeptPosition } from "./kept-positions.js";
export {
  areTextsKept,
  bodyOfText,
  type KeptText,
  keepText,
  keptTextFor,
  keptTextOf,
  type TextCodec,
  type TextCodecs,
  textCodecs,
} from "./kept-text.js";
export type { Lifecycle } from "./lifecycle.js";
export { onAbort, pause, withEither } from "./lifecycle.js";
export { originHeader, type RequestOrigin } from "./origin.js";
export type { Permissions } from "./permissions.js";
export type { Examined, Examiner, FolderUse, Probe, ProbeResult } from "./probe.js";
export { type RepeatedReception, receiveUntilTaken } from "./repeated-reception.js";
export type {
  ConfigOf,
  FieldsFormat,
  Format,
  FormatName,
  ListFormat,
  Property,
  Schema,
  WithDefaults,
} from "./schema.js";
export type {
  ChannelPart,
  LogAgent,
  LogSummary,
  SettledEvents,
  SharedLetter,
  SharedLetterListener,
  SharedLetters,
} from "./shared-channel.js";
export type {
  Batch,
  BatchPosition,
  ExplainedWrite,
  Explanation,
  QueryResult,
  Receipt,
  Sink,
  SinkPositions,
  SinkProcessor,
  SinkTuning,
  StoreAnswer,
  StoredSummary,
  TakesOthers,
} from "./sink.js";
export { idOf } from "./sink.js";
export type {
  Accepted,
  DecodedRequest,
  Emit,
  Handler,
  Handover,
  InboundRequest,
  Receive,
  Reception,
  Refuse,
  Refused,
  RequestConnection,
  Source,
  SourceRefusal,
} from "./source.js";
export type { AdoptRequest, StoredData, StoredProgress, TableResult } from "./stored-data.js";
export type { ErasedRows, Erasure, LeftData, RowSelection, StoredColumn, StoredRows } from "./stored-rows.js";
export type { StoredSelection, StoredTable } from "./stored-table.js";
export {
  checkTls,
  type PemFault,
  type PemFiles,
  pemFault,
  readTlsFiles,
  type TlsClientOptions,
  type TlsConfig,
  tlsProperties,
} from "./tls-files.js";
export { type TlsWords, tlsReason } from "./tls-reason.js";
export { traceHeaders } from "./trace-context.js";
