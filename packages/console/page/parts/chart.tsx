import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { theme } from '../browser/session.ts';

export interface Series {
  readonly name: string;
  /** A class of the style sheet: `series-1`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  /** The newest value, told. */
  readonly now: string;
}

interface ChartOptions {
  readonly title: string;
  /** Seconds since 1970, as many as values. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** The top of the scale, where there is one. */
  readonly most?: number;
}

const HEIGHT = 150;
/** Seconds that are shown at least: a chart that has just begun does not stretch its first moments. */
const SPAN = 120;
/** By the clock and the habits of who reads it. */
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** Lines over the last quarter of an hour. What they say now is in words beside them, for who does not see them. */
export function Chart({ title, times, series, format, most }: ChartOptions): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const names = series.map(({ name }) => name).join();

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new uPlot(optionsFor(element, series, format, most), dataOf(times, series), element);
    plot.current = made;
    const sized = new ResizeObserver(() => {
      made.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    sized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const repaint = (): void => {
      made.redraw(false);
    };
    dark.addEventListener('change', repaint);
    return () => {
      dark.removeEventListener('change', repaint);
      sized.disconnect();
      made.destroy();
      plot.current = null;
    };
    // A chart is made anew when it is another chart, or in other colours.
  }, [title, names, theme.value]);

  useEffect(() => {
    plot.current?.setData(dataOf(times, series));
  }, [times]);

  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        {series.map(({ name, colour, now }) => (
          <span key={name} class="legend">
            <i class={colour} aria-hidden="true" />
            {name} <b>{now}</b>
          </span>
        ))}
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  );
}

function dataOf(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  return [times as number[], ...series.map(({ values }) => values as (number | null)[])];
}

function optionsFor(
  element: HTMLElement,
  series: readonly Series[],
  format: (value: number) => string,
  most: number | undefined,
): uPlot.Options {
  const axis = {
    stroke: () => getComputedStyle(element).color,
    grid: { stroke: () => getComputedStyle(element).borderTopColor, width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth || 300,
    height: HEIGHT,
    legend: { show: false },
    cursor: {
      sync: { key: 'charts' },
      points: { size: 6 },
      drag: { x: false, y: false },
    },
    scales: {
      x: { time: true, range: (_, low, high) => [Math.min(low, high - SPAN), high] },
      y: { range: (_, __, high) => [0, most ?? (Number.isFinite(high) && high > 0 ? high * 1.15 : 1)] },
    },
    axes: [
      { ...axis, space: 90, size: 30, values: (_, ticks) => ticks.map((tick) => CLOCK.format(tick * 1_000)) },
      { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => format(tick)) },
    ],
    series: [
      {},
      ...series.map(({ colour: name }) => ({
        stroke: () => paintOf(element, name),
        width: 2,
        points: { show: false },
        spanGaps: false,
      })),
    ],
  };
}

/** The colour of a series, as its mark in the legend has it. */
function paintOf(element: HTMLElement, name: string): string {
  const mark = element.parentElement?.querySelector(`.legend .${name}`);
  return mark instanceof HTMLElement ? getComputedStyle(mark).backgroundColor : '';
}
