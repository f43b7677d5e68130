// What differs between the stored and the fresh output of a cell.

import type { JSX } from "preact";
import { visible } from "./text";

/** Side ("-" stored, "+" fresh, " " both, "@" what follows), text, and which characters of it differ. */
export type DiffRow = [string, string, number | null, number | null];

const SIDES: Record<string, string> = { "-": "minus", "+": "plus", "@": "what" };

export function DiffView({ rows }: { rows: DiffRow[] }): JSX.Element {
  return (
    <pre class="diff" tabIndex={0} role="group" aria-label="what differs">
      {rows.map(([side, text, from, to], number) => (
        <span class={SIDES[side] ?? ""} key={number}>
          {side === "@" ? " " : side}{" "}
          {from === null || to === null ? (
            visible(text)
          ) : (
            <>
              {visible(text.slice(0, from))}
              <mark>{visible(text.slice(from, to))}</mark>
              {visible(text.slice(to))}
            </>
          )}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
