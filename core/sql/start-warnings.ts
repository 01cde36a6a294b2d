import type { SqlConfig } from "./contract/schema.js";

/** What a sink logs once, at its start. */
export interface StartWarning {
  readonly fields: object;
  readonly message: string;
}

export function startWarnings(config: SqlConfig, ignoredOptions: readonly string[] = []): readonly StartWarning[] {
  return [
    ...(isMirrored(config) ? [{ fields: { attr_geometry_x: "latitude" }, message: MIRRORED }] : []),
    ...(ignoredOptions.length === 0
      ? []
      : [{ fields: { options: ignoredOptions }, message: "unknown connection options are ignored" }]),
  ];
}

const MIRRORED =
  "geo:point, geo:line, geo:box and geo:polygon are stored with x = latitude, as the predecessor did; maps expect x = longitude";

function isMirrored(config: SqlConfig): boolean {
  return (
    config.attr_geometry === true &&
    config.attr_geometry_x === "latitude" &&
    (config.attr_persistence === "column" || config.attr_geometry_rows !== false)
  );
}
