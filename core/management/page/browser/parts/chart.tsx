import { useState } from "preact/hooks";
import type { Sample } from "../live/history.js";
import { duration, rate } from "./format.js";

export interface Series {
  readonly key: "in" | "out" | "refused" | "waiting";
  readonly label: string;
}

interface ChartParts {
  /** What it shows, for those who cannot see it. */
  readonly title: string;
  readonly samples: readonly Sample[];
  readonly series: readonly Series[];
}

const width = 600;
const height = 120;
/** Above and below, so that a line at the edge is not cut. */
const edge = 3;
/** Seconds that a chart spans: the shortest of these that holds all samples. */
const spans = [60, 120, 300] as const;

/** Lines over the last minutes, five at most. The values of now, or of the moment under the pointer, stand below as text. */
export function Chart({ title, samples, series }: ChartParts) {
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const end = samples.at(-1)?.time ?? 0;
  const known = (end - (samples[0]?.time ?? end)) / 1000;
  const seconds = spans.find((one) => known <= one) ?? 300;
  const span = seconds * 1000;
  const most = niceTop(Math.max(0, ...series.flatMap(({ key }) => samples.map((sample) => sample[key] ?? 0))));
  const at = (sample: Sample, value: number) => {
    const x = width - ((end - sample.time) / span) * width;
    return `${x.toFixed(1)} ${(height - (value / most) * height).toFixed(1)}`;
  };
  const chosen = pointed === undefined ? samples.at(-1) : nearest(samples, end - (1 - pointed) * span);
  const ago = chosen === undefined ? 0 : Math.round((end - chosen.time) / 1000);
  return (
    <figure class="chart">
      <div class="plot">
        <span class="most" aria-hidden="true">
          {rate(most)}
        </span>
        <svg
          viewBox={`0 ${-edge} ${width} ${height + 2 * edge}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}, last ${duration(seconds)}. ${series.map((one) => summary(one, samples)).join(" ")}`}
          onPointerMove={(event) => setPointed(shareOf(event))}
          onPointerLeave={() => setPointed(undefined)}
        >
          <path class="grid" d={`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`} />
          {series.map(({ key }) => (
            <path key={key} class={`line ${key}`} d={lineOf(samples, key, at)} />
          ))}
        </svg>
        <span class="start" aria-hidden="true">
          {duration(seconds)} ago
        </span>
      </div>
      <figcaption>
        {series.map(({ key, label }) => (
          <span key={key} class={`legend ${key}`}>
            {label} <b>{rate(chosen?.[key])}</b>
          </span>
        ))}
        {pointed === undefined ? null : <span class="muted">{ago} s ago</span>}
      </figcaption>
    </figure>
  );
}

/** Broken where a value is not known. */
function lineOf(samples: readonly Sample[], key: Series["key"], at: (sample: Sample, value: number) => string): string {
  const points = samples.map((sample) => {
    const value = sample[key];
    return value === undefined ? undefined : at(sample, value);
  });
  return points
    .map((point, index) => (point === undefined ? "" : `${points[index - 1] === undefined ? "M" : "L"}${point}`))
    .join("");
}

function summary({ key, label }: Series, samples: readonly Sample[]): string {
  const known = samples.map((sample) => sample[key]).filter((value) => value !== undefined);
  if (known.length === 0) return `${label}: not known yet.`;
  return `${label}: now ${rate(known.at(-1))}, at most ${rate(Math.max(...known))}.`;
}

/** The next of 1, 2, 5, 10, ... at or above the value. */
function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

function nearest(samples: readonly Sample[], time: number): Sample | undefined {
  return samples.find((sample) => sample.time >= time) ?? samples.at(-1);
}

/** How far to the right the pointer is, from 0 to 1. */
function shareOf(event: PointerEvent): number {
  const { currentTarget, clientX } = event;
  if (!(currentTarget instanceof Element)) return 1;
  const { left, width: wide } = currentTarget.getBoundingClientRect();
  return Math.min(1, Math.max(0, (clientX - left) / wide));
}
