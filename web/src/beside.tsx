// The model beside the truth: two runs of one program, event for event. What agrees is decided in Python (view/beside.py).

import "./base.css";
import "./beside.css";
import { render, type JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { told } from "./load";
import { Source } from "./source";
import { stringText, visible } from "./text";
import { ThemeButton, useTheme } from "./theme";

/** What was so, and what the model believed; null where there is nothing. */
type Pair<T> = [T | null, T | null];
/** Name, its value in either run, whether they are the same. */
type Names = [string, string | null, string | null, boolean][];
type Verdict = "exact" | "value" | "place" | "missing" | "beyond";

interface Row {
  verdict: Verdict;
  kind: Pair<string>;
  instruction: Pair<string>;
  line: Pair<number>;
  function: Pair<string>;
  file: Pair<string>;
  value: Pair<string>;
  output: Pair<string>;
  frames: { function: Pair<string>; line: Pair<number>; names: Names }[];
  globals: Names;
}

interface Facts {
  deskcheck: string;
  id: string;
  file: string;
  entry: string | null;
  arguments: string | null;
  sources: Record<string, string>;
  source: string;
  rows: Row[];
  given: number;
  jumps: number[] | null;
  exact: number;
  first: number | null;
  how: string | null;
  stop: string;
  why: string;
  variables: { name: string; function: string; event: number; count: number; true: string | null; told: string | null }[];
}

const NAMING_MS = 300;
const AROUND = 60;
const HOW: Record<string, string> = {
  value: "a value",
  next_line: "the next line",
  unreadable: "no state that can be read",
  budget: "not asked further",
};
const VERDICTS: Record<Verdict, string> = {
  exact: "the same",
  value: "another value",
  place: "another place",
  missing: "the model has ended",
  beyond: "the run has ended",
};

function sentence(row: Row, side: 0 | 1): string {
  const kind = row.kind[side];
  if (kind === null) return "";
  const name = visible(row.function[side] ?? "");
  const value = row.value[side] === null ? "" : ` ${visible(row.value[side]!)}`;
  if (kind === "line") return `line ${row.line[side]} of ${name}`;
  if (kind === "instruction") return `${visible(row.instruction[side] ?? "")} of ${name}`;
  return `${kind} ${name}, line ${row.line[side]}${value}`;
}

function App({ facts }: { facts: Facts }): JSX.Element {
  const { rows, first } = facts;
  const last = rows.length - 1;
  const asked = () => {
    const number = new URLSearchParams(location.hash.slice(1)).get("event") ?? "";
    return /^\d{1,9}$/.test(number) ? Math.min(Number(number), last) : null;
  };
  const [at, setAt] = useState(() => asked() ?? Math.min(first ?? 0, last));
  const [theme, nextTheme] = useTheme();
  const [notice, setNotice] = useState("");
  const help = useRef<HTMLDialogElement>(null);
  const naming = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const go = (index: number | null | undefined, nothing = "there is none in that direction") => {
    if (index === null || index === undefined) {
      setNotice(nothing);
      return;
    }
    const wanted = Math.max(0, Math.min(last, index));
    setNotice("");
    setAt(wanted);
    clearTimeout(naming.current);
    naming.current = setTimeout(() => history.replaceState(null, "", `#event=${wanted}`), NAMING_MS);
  };
  const differing = (way: 1 | -1) => {
    for (let index = at + way; index >= 0 && index <= last; index += way) if (rows[index]!.verdict !== "exact") return index;
    return null;
  };
  const toFirst = () => go(first === null ? null : Math.min(first, last), "the two runs are the same to the end");

  const keys: Record<string, () => void> = {
    ArrowRight: () => go(at + 1),
    n: () => go(at + 1),
    ArrowLeft: () => go(at - 1),
    p: () => go(at - 1),
    Home: () => go(0),
    End: () => go(last),
    PageDown: () => go(at + 100),
    PageUp: () => go(at - 100),
    d: toFirst,
    e: () => go(differing(1)),
    E: () => go(differing(-1)),
    t: nextTheme,
    "?": () => help.current?.showModal(),
  };
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || help.current?.open) return;
      if ((event.target as HTMLElement).closest?.("input, select, textarea")) return;
      const act = latest.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    const follow = () => {
      const event = asked();
      if (event !== null) setAt(event);
    };
    addEventListener("keydown", listen);
    addEventListener("hashchange", follow);
    return () => {
      removeEventListener("keydown", listen);
      removeEventListener("hashchange", follow);
    };
  }, []);

  const row = rows[at];
  const call = facts.entry === null ? visible(facts.file) : visible(`${facts.entry}${facts.arguments ?? ""}`);
  const verdict = first === null ? `right to the end, ${facts.exact} steps` : `${facts.how === "budget" ? "right as far as it goes" : "first wrong"}: event ${first}, ${HOW[facts.how!] ?? visible(facts.how!)}`;
  const after = first !== null && at > first;
  return (
    <>
      <header>
        <h1>{visible(facts.id)}</h1>
        {!facts.id.endsWith(call) && <code class="call">{call}</code>}
        <span class={`outcome ${first === null || facts.how === "budget" ? "returned" : "raised"}`} id="verdict">
          {verdict}
        </span>
        <bdi class="soft told-by">{visible(facts.source)}</bdi>
        <span class="spacer" />
        <ThemeButton theme={theme} next={nextTheme} />
        <button type="button" id="do-help" title="keys (?)" onClick={() => help.current?.showModal()}>
          Keys
        </button>
      </header>
      <nav class="moves" aria-label="steps">
        <button type="button" id="do-first" disabled={at === 0} onClick={() => go(0)}>
          First
        </button>
        <button type="button" id="do-back" disabled={at === 0} onClick={() => go(at - 1)}>
          ← Back
        </button>
        <button type="button" id="do-forward" disabled={at === last} onClick={() => go(at + 1)}>
          Forward →
        </button>
        <button type="button" id="do-last" disabled={at === last} onClick={() => go(last)}>
          Last
        </button>
        <button type="button" id="do-divergence" class="bad" disabled={first === null} onClick={toFirst}>
          First divergence
        </button>
        <button type="button" id="do-difference-back" onClick={() => go(differing(-1))}>
          Difference before
        </button>
        <button type="button" id="do-difference" onClick={() => go(differing(1))}>
          Next difference
        </button>
        <span class="notice" role="status">
          {notice}
        </span>
      </nav>
      <section class="strip" aria-label="all events">
        <Strip rows={rows} first={first} at={at} />
        <input type="range" id="event" min={0} max={Math.max(0, last)} value={at} aria-label="event" aria-valuetext={row && `event ${at}, ${VERDICTS[row.verdict]}`} onInput={(event) => go(Number(event.currentTarget.value))} />
      </section>
      {row && (
        <main>
          <section class="left" aria-label="program and events">
            <SourceView facts={facts} row={row} />
            <Events facts={facts} at={at} go={go} />
          </section>
          <section class="right" aria-label="the event in both runs" tabIndex={0}>
            <p class={`says ${row.verdict}`} id="now" aria-live="polite">
              <span class="which">
                event {at}
                {facts.jumps && at >= facts.given ? `, ${facts.jumps[at - facts.given] ?? 1} on` : ""}
              </span>{" "}
              {at < facts.given ? "given to the model" : VERDICTS[row.verdict]}
              {at === first && <strong> the first divergence</strong>}
              {after && <span class="soft"> the model goes on from a wrong state: differences from here on say nothing</span>}
              {row.verdict === "missing" && facts.why && <span class="cut"> {visible(facts.why)}</span>}
            </p>
            <State row={row} />
            <Variables facts={facts} go={go} />
          </section>
        </main>
      )}
      {!row && <p class="problem">Neither run has an event.</p>}
      <dialog ref={help} aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl>
          {(
            [
              ["→ or n, ← or p", "an event forward, back"],
              ["Home, End, PgUp, PgDn", "first, last, a hundred"],
              ["d", "the first divergence"],
              ["e, Shift e", "next and previous difference"],
              ["t", "light, dark, or as the system has it"],
            ] as const
          ).map(([key, means]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{means}</dd>
            </div>
          ))}
        </dl>
        <p class="soft">deskcheck {facts.deskcheck}</p>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

/** All events on one line, a stretch of equal verdicts as one piece. */
function Strip({ rows, first, at }: { rows: Row[]; first: number | null; at: number }): JSX.Element {
  const pieces: { verdict: Verdict; start: number; count: number }[] = [];
  rows.forEach(({ verdict }, index) => {
    const piece = pieces.at(-1);
    if (piece?.verdict === verdict) piece.count++;
    else pieces.push({ verdict, start: index, count: 1 });
  });
  const count = Math.max(1, rows.length);
  return (
    <svg class="pieces" viewBox={`0 0 ${count} 10`} preserveAspectRatio="none" aria-hidden="true">
      {pieces.map((piece) => (
        <rect key={piece.start} class={piece.verdict} x={piece.start} width={piece.count} y={0} height={10} />
      ))}
      {first !== null && <rect class="mark" x={Math.min(first, count - 1)} width={Math.max(1, count / 400)} y={0} height={10} />}
      <rect class="here" x={at} width={Math.max(1, count / 500)} y={0} height={10} />
    </svg>
  );
}

function SourceView({ facts, row }: { facts: Facts; row: Row }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const source = useRef<Source | null>(null);
  const file = row.file[0] ?? row.file[1] ?? facts.file;
  const text = Object.hasOwn(facts.sources, file) ? facts.sources[file]! : "# the source of this file is not shown";
  useLayoutEffect(() => {
    source.current = new Source(place.current!, () => {});
    return () => source.current!.destroy();
  }, []);
  useLayoutEffect(() => source.current!.show(text, new Map()), [text]);
  useLayoutEffect(() => {
    const [line, believed] = row.line;
    const kind = row.kind[0];
    const look = kind === "raise" || kind === "unwind" ? "raise" : kind === "return" || kind === "yield" ? "leave" : "line";
    source.current!.mark({ line: line ?? -1, look, others: believed !== null && believed !== line ? [believed] : [], call: null });
  }, [row, text]);
  return <div class="editor" ref={place} />;
}

function Events({ facts, at, go }: { facts: Facts; at: number; go: (index: number) => void }): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const start = Math.max(0, at - AROUND);
  useLayoutEffect(() => {
    const [box, current] = [list.current!, list.current!.querySelector<HTMLElement>("[aria-current]")];
    if (current) box.scrollTop = current.offsetTop - box.clientHeight / 2;
  }, [at]);
  return (
    <div class="events" ref={list} role="group" aria-label="events of both runs">
      {facts.rows.slice(start, at + AROUND).map((row, place) => {
        const index = start + place;
        return (
          <button type="button" key={index} class={`${row.verdict} ${index === facts.first ? "first" : ""}`} aria-current={index === at ? "step" : undefined} onClick={() => go(index)}>
            <span class="number">{index}</span>
            <bdi>{sentence(row, 0) || "—"}</bdi>
            <bdi>{row.verdict === "exact" ? "the same" : row.verdict === "missing" ? "—" : sentence(row, 1)}</bdi>
          </button>
        );
      })}
    </div>
  );
}

function Value({ text, told }: { text: string | null; told: boolean }): JSX.Element {
  if (text === null) return <span class="soft">{told ? "not told" : "—"}</span>;
  return <bdi>{visible(text)}</bdi>;
}

function Rows({ names, told }: { names: Names; told: boolean }): JSX.Element {
  return (
    <>
      {names.map(([name, was, believed, same]) => (
        <tr key={name} class={same ? "" : "differs"}>
          <th scope="row">
            <bdi>{visible(name)}</bdi>
          </th>
          <td>
            <Value text={was} told={false} />
          </td>
          <td>
            <Value text={believed} told={told} />
            {!same && was === believed && was !== null && <span class="soft"> shares other objects</span>}
          </td>
        </tr>
      ))}
    </>
  );
}

function State({ row }: { row: Row }): JSX.Element {
  const there = row.kind[1] !== null;
  const pair = (name: string, was: string | null, believed: string | null): Names => (was === null && believed === null ? [] : [[name, was, believed, was === believed]]);
  const shown = (text: string | null) => (text === null || text === "" ? null : stringText(text));
  const extra: Names = [
    ["event", sentence(row, 0) || null, sentence(row, 1) || null, row.verdict === "exact" || row.verdict === "value"],
    ...pair("value", row.value[0], row.value[1]),
    ...pair("prints", shown(row.output[0]), shown(row.output[1])),
    ...row.globals,
  ];
  return (
    <table class="state">
      <thead>
        <tr>
          <th scope="col">
            <span class="soft">name</span>
          </th>
          <th scope="col">what was so</th>
          <th scope="col">what the model believed</th>
        </tr>
      </thead>
      <tbody>
        <Rows names={extra} told={there} />
      </tbody>
      {row.frames.toReversed().map((frame, depth) => {
        const [was, believed] = frame.function;
        const named = was !== null && believed !== null && was !== believed ? `${was}, believed to be ${believed}` : (was ?? believed ?? "");
        const line = frame.line[0] ?? frame.line[1];
        return (
          <tbody key={row.frames.length - depth}>
            <tr class={was === believed || !there ? "framed" : "framed differs"}>
              <th colSpan={3} scope="rowgroup">
                <bdi>{visible(named)}</bdi> <span class="soft">line {line}</span>
              </th>
            </tr>
            <Rows names={frame.names} told={there} />
          </tbody>
        );
      })}
    </table>
  );
}

function Variables({ facts, go }: { facts: Facts; go: (index: number) => void }): JSX.Element {
  return (
    <section class="variables" aria-label="variables that differ">
      <h2>Variables that differ</h2>
      {!facts.variables.length && <p class="soft">none, in events that both runs have</p>}
      {facts.variables.map((one) => (
        <button type="button" key={`${one.function} ${one.name}`} onClick={() => go(one.event)}>
          <bdi class="name">{visible(one.name)}</bdi>
          <span class="soft">
            {visible(one.function)}, from event {one.event} on in {one.count}
          </span>
          <span>
            <bdi>{visible(one.true ?? "—")}</bdi> <span class="soft">believed</span> <bdi>{visible(one.told ?? "—")}</bdi>
          </span>
        </button>
      ))}
    </section>
  );
}

export async function beside(place: HTMLElement): Promise<void> {
  const facts = await told<Facts>();
  place.replaceChildren();
  render(<App facts={facts} />, place);
}
