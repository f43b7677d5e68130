// Looking through the blocks of a trace: for a text, and for the next change of a variable. Both may go through a
// million events, so they stop when told to.

import type { Content, Encoded, Names, Row, State, Trace } from "./trace";
import { short, stringText, visible } from "./text";
import type { Way } from "./moves";

/** What an event says, in a line: what is searched and what is listed. */
export function sentence(row: Row, objects: ReadonlyMap<number, Content>, limit = 60): string {
  const parts: string[] = [];
  const name = visible(row.function);
  if (row.kind === "instruction") parts.push(visible(row.instruction ?? ""));
  else if (row.kind !== "line") parts.push(`${row.kind} ${name}`);
  if (row.value !== undefined && !(row.kind === "resume" && row.value === null)) {
    const arrow = row.kind === "raise" ? "!" : row.kind === "resume" ? "<-" : "->";
    parts.push(`${arrow} ${short(row.value, objects, limit)}`);
  }
  for (const [name, value] of Object.entries({ ...row.locals, ...row.globals })) {
    if (value !== null && typeof value === "object" && "unbound" in value) parts.push(`${visible(name)} gone`);
    else if (value !== null && typeof value === "object" && "edit" in value) parts.push(`${visible(name)} = ...${stringText(value.edit[2].slice(0, limit))}...`);
    else parts.push(`${visible(name)} = ${short(value, objects, limit)}`);
  }
  if (row.output) parts.push(`prints ${stringText(row.output.slice(0, 4 * limit))}`);
  return parts.join("  ");
}

export interface Found {
  index: number;
  line: number;
  text: string;
}

/** Events whose sentence holds the text, whatever its case, from the start on; at most `most`. */
export async function search(trace: Trace, text: string, most: number, signal: AbortSignal, tell: (found: Found[], done: number) => void): Promise<void> {
  const wanted = text.toLowerCase();
  const found: Found[] = [];
  const starts = trace.facts.starts;
  for (let number = 0; number < starts.length && found.length < most; number++) {
    const { rows, state } = await trace.rows(number);
    if (signal.aborted) return;
    const running = state.copy();
    for (const row of rows) {
      running.apply(row);
      const told = sentence(row, running.objects);
      if (told.toLowerCase().includes(wanted) && found.length < most) found.push({ index: row.index, line: row.line, text: told });
    }
    tell(found, (starts[number + 1] ?? trace.length) / trace.length);
  }
}

/** A variable: of one frame, or a global of a file. */
export interface Variable {
  name: string;
  frame: number | null;
  file: string;
}

function valueOf(state: State, variable: Variable): Encoded | undefined {
  const names: Names | undefined = variable.frame === null ? state.globals.get(variable.file) : state.frames.get(variable.frame)?.locals;
  return names?.get(variable.name);
}

/** The numbers of all objects that a value reaches. */
export function reached(value: Encoded | undefined, objects: ReadonlyMap<number, Content>): Set<number> {
  const found = new Set<number>();
  const todo: unknown[] = [value];
  while (todo.length) {
    const one = todo.pop();
    if (one === null || typeof one !== "object") continue;
    const number = (one as any).ref;
    if (typeof number === "number") {
      if (found.has(number)) continue;
      found.add(number);
      const content = objects.get(number);
      if (content && content.kind !== "class" && content.kind !== "function") todo.push(content.items, content.fields);
    } else for (const part of Object.values(one)) todo.push(part);
  }
  return found;
}

/** Whether an event binds the variable anew, or changes an object that it reaches (`mine`). */
function touches(row: Row, variable: Variable, mine: ReadonlySet<number>): boolean {
  const { name, frame, file } = variable;
  if (frame === null) {
    if (row.file === file && row.globals && Object.hasOwn(row.globals, name)) return true;
  } else {
    if (row.frame === frame && row.locals && Object.hasOwn(row.locals, name)) return true;
    const caller = row.caller;
    if (caller && caller.frame === frame && caller.locals && Object.hasOwn(caller.locals, name)) return true;
  }
  for (const key in row.objects) if (mine.has(+key)) return true;
  return false;
}

/** The nearest event, in that direction, at which the variable or what it holds has changed. */
export async function change(trace: Trace, variable: Variable, from: number, way: Way, signal: AbortSignal, tell: (at: number) => void): Promise<number | null> {
  const last = trace.facts.starts.length - 1;
  for (let number = trace.blockOf(from); number >= 0 && number <= last; number += way) {
    const { rows, state } = await trace.rows(number);
    if (signal.aborted) return null;
    tell(rows[0]!.index);
    const running = state.copy();
    let found: number | null = null;
    let mine = reached(valueOf(running, variable), running.objects);
    for (const row of rows) {
      if (way < 0 && row.index >= from) break;
      running.apply(row);
      if (!touches(row, variable, mine)) continue;
      mine = reached(valueOf(running, variable), running.objects);
      if (way > 0 && row.index > from) return row.index;
      if (way < 0) found = row.index;
    }
    if (found !== null) return found;
  }
  return null;
}
