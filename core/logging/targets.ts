import type { AppenderItem } from "./appender-definition.js";
import type { LogLevel } from "./log-levels.js";

/** A logger as the management interface shows it. */
export interface LoggerItem {
  readonly name: string;
  readonly level: LogLevel;
}

/** An appender as a request gives it; what it does not say stays as it is. */
export interface AppenderChange {
  readonly name: string;
  readonly class?: string;
  readonly layout?: string;
  readonly conversionPattern: string;
}

/** `absent`: nothing of that name is there, and this target does not add. */
export type PutResult = "updated" | "added" | "absent";

/** What the operations on appenders or loggers act upon: the running agent, or the logging file. */
export interface LogTarget<Item, Change> {
  list(): Promise<readonly Item[]>;
  put(change: Change): Promise<PutResult>;
  /** False when there is nothing of that name. */
  remove(name: string): Promise<boolean>;
  removeAll(): Promise<void>;
}

/** The logging file, to which things can be added. */
export interface LogFileTarget<Item, Change> extends LogTarget<Item, Change> {
  /** False when it is there already. */
  add(change: Change): Promise<boolean>;
}

export type AppenderTarget = LogTarget<AppenderItem, AppenderChange>;
export type LoggerTarget = LogTarget<LoggerItem, LoggerItem>;
export type AppenderFileTarget = LogFileTarget<AppenderItem, AppenderChange>;
export type LoggerFileTarget = LogFileTarget<LoggerItem, LoggerItem>;

/** Everything of the logging that can be looked at and changed. */
export interface LoggingTargets {
  readonly running: { readonly appenders: AppenderTarget; readonly loggers: LoggerTarget };
  readonly file: { readonly appenders: AppenderFileTarget; readonly loggers: LoggerFileTarget };
}
