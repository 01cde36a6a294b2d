/** An appender as the logging file and the management interface describe it. */
export interface AppenderDefinition {
  readonly name: string;
  /** `console` or `file`, or a class name of log4j such as `org.apache.log4j.RollingFileAppender`. */
  readonly class: string;
  /** `pattern` or `json`, or a class name of log4j such as `org.apache.log4j.PatternLayout`. */
  readonly layout: string;
  readonly conversionPattern: string;
  /** Of an appender that writes a file; the logging file alone can say it. */
  readonly file?: string;
  readonly maxFileSize?: number;
  readonly maxFiles?: number;
}

/** The appender of an agent that is told nothing else. */
export const builtInAppender: AppenderDefinition = {
  name: "console",
  class: "console",
  layout: "json",
  conversionPattern: "%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'} %-5p %c %m%n",
};

/** An appender as the management interface shows it: its layout is the pattern, or `json`. */
export interface AppenderItem {
  readonly name: string;
  readonly layout: string;
}

export function appenderItem({ name, layout, conversionPattern }: AppenderDefinition): AppenderItem {
  return { name, layout: isJsonLayout(layout) ? "json" : conversionPattern };
}

export function isJsonLayout(layout: string): boolean {
  return /json/i.test(shortName(layout));
}

/** Where an appender of that class writes; undefined for a class that is not known here. */
export function sinkOfClass(name: string): "console" | "file" | undefined {
  const short = shortName(name);
  if (/file/i.test(short)) return "file";
  return /console/i.test(short) ? "console" : undefined;
}

function shortName(className: string): string {
  return className.split(".").at(-1) ?? className;
}
