// Where a step leads. Each gives the index of an event, or null if there is none in that direction.

import type { Columns } from "./trace";

export type Way = 1 | -1;

function first(columns: Columns, from: number, way: Way, fits: (index: number) => boolean): number | null {
  for (let i = from + way; i >= 0 && i < columns.length; i += way) if (fits(i)) return i;
  return null;
}

/** The next event; without instructions, if they are not wanted. */
export function step(columns: Columns, from: number, way: Way, instructions = true): number | null {
  const instruction = columns.kindNumber("instruction");
  return first(columns, from, way, (i) => instructions || columns.number(i) !== instruction);
}

/** The next event that is not inside a call made from here. */
export function over(columns: Columns, from: number, way: Way, instructions = true): number | null {
  const depth = columns.depth[from]!;
  const instruction = columns.kindNumber("instruction");
  return first(columns, from, way, (i) => columns.depth[i]! <= depth && (instructions || columns.number(i) !== instruction));
}

/** The next event after the running frame has been left: of the frame that called it. */
export function out(columns: Columns, from: number, way: Way = 1): number | null {
  const depth = columns.depth[from]!;
  return first(columns, from, way, (i) => columns.depth[i]! < depth);
}

export function exception(columns: Columns, from: number, way: Way): number | null {
  const raised = columns.kindNumber("raise");
  return first(columns, from, way, (i) => columns.number(i) === raised);
}

export function printed(columns: Columns, from: number, way: Way): number | null {
  return first(columns, from, way, (i) => columns.prints(i));
}

/** All visits of a line: its `line` events in that file, in order. */
export function visits(columns: Columns, places: [string, string][], file: string, line: number): number[] {
  const kind = columns.kindNumber("line");
  const inFile = places.map(([, of]) => of === file);
  const found: number[] = [];
  for (let i = 0; i < columns.length; i++) {
    if (columns.line[i] === line && columns.number(i) === kind && inFile[columns.place[i]!]) found.push(i);
  }
  return found;
}

/** How often each line of a file is visited. */
export function visitCounts(columns: Columns, places: [string, string][], file: string): Map<number, number> {
  const kind = columns.kindNumber("line");
  const inFile = places.map(([, of]) => of === file);
  const counts = new Map<number, number>();
  for (let i = 0; i < columns.length; i++) {
    if (columns.number(i) !== kind || !inFile[columns.place[i]!]) continue;
    const line = columns.line[i]!;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}

/** The line event of the frame that is before an event: the line that just ran. */
export function lineBefore(columns: Columns, index: number): number | null {
  const [frame, line] = [columns.frame[index]!, columns.kindNumber("line")];
  return first(columns, index, -1, (i) => columns.frame[i] === frame && columns.number(i) === line);
}
