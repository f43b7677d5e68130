// Why a variable has its value: a walk through the graph of view/queries/causes.py, as `deskcheck why` does it.

import type { Variable } from "./search";

export interface Causes {
  /** Of a variable: events that changed it, with the node of that change. */
  slots: Record<string, [number, number][]>;
  /** What is said after the name, the event, the values that the line read, and the line's number in the graph. */
  nodes: [string, number | null, [string, number][], number][];
}

export interface Step {
  depth: number;
  name: string;
  text: string;
  event: number | null;
}

export const WHY_STEPS = 10;
/** Steps on one line after which other lines come first, as in view/queries/why.py. */
const REPEATS = 2;

/** The steps as an indented tree; more: values that were read and are not followed. */
export function why(causes: Causes, { name, frame, file }: Variable, at: number): { steps: Step[]; more: number } {
  const changes = causes.slots[frame === null ? `global ${file} ${name}` : `local ${frame} ${name}`] ?? [];
  const root = changes.findLast(([event]) => event <= at);
  if (!root) return { steps: [], more: 0 };
  type Query = { name: string; node: number; parent: number | null };
  const queue: Query[] = [{ name, node: root[1], parent: null }];
  const later: Query[] = [];
  const made: Query[] = [];
  const visited = new Set<number>();
  const shown = new Map<number, number>();
  while ((queue.length || later.length) && made.length < WHY_STEPS) {
    const next = queue.shift();
    if (next && visited.has(next.node)) continue;
    const query = next ?? later.shift()!;
    visited.add(query.node);
    const [, , reads, line] = causes.nodes[query.node]!;
    if (next && (shown.get(line) ?? 0) >= REPEATS) {
      later.push(query);
      continue;
    }
    shown.set(line, (shown.get(line) ?? 0) + 1);
    for (const [read, node] of reads) queue.push({ name: read, node, parent: made.length });
    made.push(query);
  }
  const steps: Step[] = [];
  const tree = (parent: number | null, depth: number) => {
    made.forEach((one, number) => {
      if (one.parent !== parent) return;
      const [text, event] = causes.nodes[one.node]!;
      steps.push({ depth, name: one.name, text, event });
      tree(number, depth + 1);
    });
  };
  tree(null, 0);
  const open = new Set(queue.map(({ name, node, parent }) => `${name}\n${node}\n${parent}`));
  return { steps, more: open.size + later.length };
}
