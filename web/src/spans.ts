// The calls of a trace as stretches of events: what a flame chart draws.

import type { Columns } from "./trace";

export interface Spans {
  /** Of each depth from 1 on: first event, event after the last, and place of each stretch, in order. */
  lanes: { start: Uint32Array; end: Uint32Array; place: Uint32Array }[];
}

/** A stretch is a frame without interruption: a generator that is resumed begins a new one. */
export function spansOf({ length, depth, frame, place }: Columns): Spans {
  const lanes: { start: number[]; end: number[]; place: number[] }[] = [];
  const open: number[] = []; // the frame of each depth
  const close = (to: number, at: number) => {
    while (open.length > to) {
      open.pop();
      lanes[open.length]!.end.push(at);
    }
  };
  for (let i = 0; i < length; i++) {
    const deep = Math.max(1, depth[i]!);
    close(deep, i);
    if (open.length === deep && open[deep - 1] !== frame[i]) close(deep - 1, i);
    while (open.length < deep) {
      // Frames between that have no event of their own are those of this one: recordings have none.
      const lane = (lanes[open.length] ??= { start: [], end: [], place: [] });
      lane.start.push(i);
      lane.place.push(place[i]!);
      open.push(frame[i]!);
    }
  }
  close(0, length);
  return { lanes: lanes.map(({ start, end, place: places }) => ({ start: Uint32Array.from(start), end: Uint32Array.from(end), place: Uint32Array.from(places) })) };
}

/** The stretch of a lane that an event is in, or the first after it. */
export function spanAt(ends: Uint32Array, event: number): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! > event) high = middle;
    else low = middle + 1;
  }
  return low;
}
