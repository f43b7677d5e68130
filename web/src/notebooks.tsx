// The page of a check of notebooks: how many reproduce, which cells do not, and what differs.

import { render, type JSX } from "preact";
import { useState } from "preact/hooks";
import { DiffView, type DiffRow } from "./diff";
import { told } from "./load";
import { Document, Folded, Preformatted, Table } from "./parts";
import { visible } from "./text";

interface CellFacts {
  number: number;
  count: number | null;
  status: string;
  why: string;
  /** Its beginning. */
  source: string;
  diff: DiffRow[];
  /** Nothing is to be said of it. */
  quiet: boolean;
}

interface NotebookFacts {
  path: string;
  status: string;
  seconds: number;
  notes: string[];
  counts: Record<string, number>;
  cells: CellFacts[];
}

interface Facts {
  title: string;
  facts: string;
  folder: string;
  normalisers: string[];
  words: Record<string, string>;
  by_status: Record<string, number>;
  cells: Record<string, number>;
  failures: { category: string; first_in_notebooks: number; cells: number }[];
  missing_modules: Record<string, number>;
  fired: Record<string, number>;
  notebooks: NotebookFacts[];
}

/** What each status means, in the order in which they are listed. */
const MEANINGS: Record<string, string> = {
  same: "equals the stored outputs",
  normalised: "equals the stored outputs after the named normalisers",
  no_stored_output: "ran, but has no stored outputs to compare with",
  different: "differs from the stored outputs in every fresh run",
  not_repeatable: "fresh runs differ from each other",
  confined: "a limit or rule of the sandbox affected it; the notebook may be right",
  failed: "ended by an exception that is not stored, or the kernel died",
  timed_out: "stopped at a limit",
  not_run: "the time was used up before, or a tag excludes it",
  unreadable: "the file is incomplete, or is not a notebook",
  no_kernel: "for a language without a kernel here",
  harness_error: "deskcheck failed on it, or it ended its process three times",
};
const STATUSES = Object.keys(MEANINGS);
const MODULES = 20;

type Words = Record<string, string>;

function Badge({ status, words }: { status: string; words: Words }): JSX.Element {
  return <span class={`badge c-${status}`}>{words[status]}</span>;
}

/** How many of which status, as lengths. */
function Bar({ counts, words, kind = "" }: { counts: Record<string, number>; words: Words; kind?: string }): JSX.Element {
  const shown = STATUSES.filter((status) => counts[status]);
  const label = shown.map((status) => `${counts[status]} ${words[status]}`).join(", ") || "none";
  let start = 0;
  const parts = shown.map((status) => {
    const width = counts[status]!;
    start += width;
    return (
      <rect key={status} class={`c-${status}`} x={start - width} width={width} height="1">
        <title>{`${width} ${words[status]}`}</title>
      </rect>
    );
  });
  return (
    <svg class={`bar ${kind}`} viewBox={`0 0 ${start || 1} 1`} preserveAspectRatio="none" role="img" aria-label={label}>
      {parts}
    </svg>
  );
}

/** As "1-3, 7". */
function numbersText(numbers: number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(", ");
}

function CellView({ cell, words }: { cell: CellFacts; words: Words }): JSX.Element {
  return (
    <div class="cell">
      <div class="head">
        <span class="where">
          cell {cell.number}
          {cell.count !== null && ` [${cell.count}]`}
        </span>
        <Badge status={cell.status} words={words} />
        <span class="why">{visible(cell.why)}</span>
      </div>
      <Folded summary={<span class="soft">source</span>}>
        <Preformatted label="source" text={cell.source} />
      </Folded>
      {cell.diff.length > 0 && <DiffView rows={cell.diff} />}
    </div>
  );
}

function NotebookView({ notebook, words }: { notebook: NotebookFacts; words: Words }): JSX.Element {
  const counts = Object.entries(notebook.counts).map(([status, count]) => `${count} ${words[status]}`);
  const quiet = (status: string) => notebook.cells.filter((cell) => cell.quiet && cell.status === status).map((cell) => cell.number);
  return (
    <details class={`nb s-${notebook.status}`}>
      <summary>
        <Badge status={notebook.status} words={words} />
        <bdi class="path">{visible(notebook.path)}</bdi>
        <span class="counts">
          {counts.join(", ")} · {notebook.seconds.toFixed(1)} s
        </span>
        <Bar counts={notebook.counts} words={words} kind="small" />
      </summary>
      <div class="inside">
        {notebook.notes.map((note, number) => (
          <p class="soft" key={number}>
            {visible(note, true)}
          </p>
        ))}
        {notebook.cells.map((cell) => !cell.quiet && <CellView key={cell.number} cell={cell} words={words} />)}
        {["same", "no_stored_output"].map(
          (status) =>
            quiet(status).length > 0 && (
              <p class="soft" key={status}>
                {words[status]}: cells {numbersText(quiet(status))}
              </p>
            ),
        )}
      </div>
    </details>
  );
}

function CountTable({ title, heads, rows }: { title: string; heads: string[]; rows: (string | number)[][] }): JSX.Element | null {
  if (!rows.length) return null;
  return (
    <section>
      <h2>{title}</h2>
      <Table heads={heads} rows={rows.map((row) => row.map((cell) => cell || ""))} />
    </section>
  );
}

const mostFirst = (counts: Record<string, number>) => Object.entries(counts).sort((one, other) => other[1] - one[1]);

function Report({ facts }: { facts: Facts }): JSX.Element {
  const { words } = facts;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const toggle = (status: string) => {
    const next = new Set(hidden);
    if (!next.delete(status)) next.add(status);
    setHidden(next);
  };
  return (
    <Document title={facts.title}>
      <p class="soft">{visible(facts.facts)}</p>
      <div class="tally">
        <span>notebooks</span>
        <Bar counts={facts.by_status} words={words} />
        <span>cells</span>
        <Bar counts={facts.cells} words={words} />
      </div>
      <div class="filters">
        <span class="soft">show (notebooks · cells)</span>
        {STATUSES.filter((status) => facts.by_status[status] || facts.cells[status]).map((status) => (
          <label key={status} title={MEANINGS[status]}>
            <input type="checkbox" id={`f-${status}`} checked={!hidden.has(status)} onChange={() => toggle(status)} />
            <span class={`key c-${status}`} />
            {words[status]}{" "}
            <span class="soft">
              {facts.by_status[status] ?? 0} · {facts.cells[status] ?? 0}
            </span>
          </label>
        ))}
      </div>
      <div class="columns">
        <CountTable
          title="Why cells fail"
          heads={["exception", "notebooks where it is first", "cells"]}
          rows={facts.failures.map((row) => [row.category, row.first_in_notebooks, row.cells])}
        />
        <CountTable title="Missing modules" heads={["module", "notebooks"]} rows={mostFirst(facts.missing_modules).slice(0, MODULES)} />
        <CountTable title="Equal after normalisers" heads={["normaliser", "cells"]} rows={mostFirst(facts.fired)} />
      </div>
      <h2>
        Notebooks <span class="soft">in {visible(facts.folder)}</span>
      </h2>
      {facts.notebooks.map((notebook) => !hidden.has(notebook.status) && <NotebookView key={notebook.path} notebook={notebook} words={words} />)}
      <h2>What is compared</h2>
      <p>
        A cell is the same if its standard output, the text/plain of each result and display, and the class and message of an exception equal the stored ones, character by
        character and in order, and the number of images is the same. Pixels, HTML, standard error, tracebacks and times are not compared. The guide “Check whether notebooks reproduce” describes the
        normalisers. Normalisers used: {facts.normalisers.join(", ") || "none"}.
      </p>
      <table>
        <tbody>
          {STATUSES.map((status) => (
            <tr key={status}>
              <td>
                <Badge status={status} words={words} />
              </td>
              <td>{MEANINGS[status]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Document>
  );
}

export async function notebooks(place: HTMLElement): Promise<void> {
  const facts = await told<Facts>();
  place.replaceChildren();
  render(<Report facts={facts} />, place);
}
