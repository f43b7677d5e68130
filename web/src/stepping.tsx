// What the pages share that one goes through step by step: a place that stands in the address, keys, the help that names them.

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Way } from "./moves";
import { ThemeButton, type Theme } from "./theme";

export type Dialog = { current: HTMLDialogElement | null };

/** The address follows after so long: browsers refuse to change it for every step of a key that is held. */
export const NAMING_MS = 300;

export interface Place {
  at: number;
  /** Goes to a step; null: says that there is nothing there. */
  go: (index: number | null, nothing?: string) => void;
  notice: string;
}

/** Put where the page stands into its address. jump: not a step, so that the browser's Back leads to the place before. */
export function named(where: string, jump = false): void {
  try {
    if (jump) history.pushState(null, "", `#${where}`);
    else history.replaceState(null, "", `#${where}`);
  } catch {
    // a page inside another one, as in a notebook, has no address of its own
  }
}

/** One of the steps 0 to `last`, which the address names: `#name=12`. */
export function usePlace(name: string, last: number, start: number): Place {
  const asked = () => {
    const number = new URLSearchParams(location.hash.slice(1)).get(name) ?? "";
    return /^\d{1,9}$/.test(number) ? Math.min(Number(number), last) : null;
  };
  const [at, setAt] = useState(() => asked() ?? start);
  const [notice, setNotice] = useState("");
  const naming = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const written = useRef(at);
  // Layout effects: what is drawn listens at once. Others run after the paint, and a key before that is lost.
  useLayoutEffect(() => {
    const follow = () => {
      written.current = asked() ?? written.current;
      setAt((now) => asked() ?? now);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const go = (index: number | null, nothing = "none in that direction") => {
    setNotice(index === null ? nothing : "");
    if (index === null) return;
    const wanted = Math.max(0, Math.min(last, index));
    setAt(wanted);
    clearTimeout(naming.current);
    naming.current = setTimeout(() => {
      named(`${name}=${wanted}`, Math.abs(wanted - written.current) > 1);
      written.current = wanted;
    }, NAMING_MS);
  };
  return { at, go, notice };
}

/** The next of all that fits, in a direction. */
export function next<T>(all: T[], at: number, way: Way, fits: (one: T) => boolean): number | null {
  for (let index = at + way; index >= 0 && index < all.length; index += way) if (fits(all[index]!)) return index;
  return null;
}

/** Whether the key belongs to the field that has the focus; Escape leaves it. */
function typing({ target, key }: KeyboardEvent): boolean {
  const field = (target as HTMLElement).closest?.("input, select, textarea");
  const type = field instanceof HTMLInputElement ? field.type : "text";
  // A slider has its arrows, a box is only clicked.
  return !!field && key !== "Escape" && type !== "checkbox" && (type !== "range" || key.length > 1);
}

const NO_KEYS = "deskcheck-no-keys";

function keysAreOff(): boolean {
  try {
    return localStorage.getItem(NO_KEYS) === "1";
  } catch {
    return false; // a page from a file may have no storage
  }
}

/** A box that switches keys of one character off, for people whose software types them: the arrows stay. */
function KeySwitch(): JSX.Element {
  const [off, setOff] = useState(keysAreOff);
  const change = () => {
    setOff(!off);
    document.documentElement.toggleAttribute("data-no-keys", !off);
    try {
      localStorage.setItem(NO_KEYS, off ? "0" : "1");
    } catch {
      // as above
    }
  };
  return (
    <label>
      <input type="checkbox" id="keys" checked={!off} onChange={change} /> keys with one character
    </label>
  );
}

/** Does what a pressed key stands for, unless the key belongs to a field or to a dialog. */
export function useKeys(keys: Record<string, () => void>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute("data-no-keys", keysAreOff());
    const listen = (event: KeyboardEvent) => {
      if (event.key.length === 1 && document.documentElement.hasAttribute("data-no-keys")) return;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || typing(event)) return;
      const act = latest.current[event.shiftKey && event.key.length > 1 ? `Shift ${event.key}` : event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}

/** The keys that all such pages have. */
export function stepKeys({ at, go }: Place, last: number): Record<string, () => void> {
  const [forward, back] = [() => go(at + 1), () => go(at - 1)];
  return { ArrowRight: forward, n: forward, ArrowLeft: back, p: back, Home: () => go(0), End: () => go(last), PageDown: () => go(at + 100), PageUp: () => go(at - 100) };
}

/** What leads from step to step. children: what leads elsewhere. */
export function Moves({ place, last, children }: { place: Place; last: number; children: ComponentChildren }): JSX.Element {
  const { at, go, notice } = place;
  return (
    <nav class="moves" aria-label="steps">
      <Move id="first" label="First" act={() => go(0)} off={at === 0} />
      <Move id="back" label="← Back" act={() => go(at - 1)} off={at === 0} />
      <Move id="forward" label="Next →" act={() => go(at + 1)} off={at >= last} />
      <Move id="last" label="Last" act={() => go(last)} off={at >= last} />
      {children}
      <span class="notice" role="status">
        {notice}
      </span>
    </nav>
  );
}

export function Move({ id, label, act, off = false, bad = false }: { id: string; label: string; act: () => void; off?: boolean; bad?: boolean }): JSX.Element {
  return (
    <button type="button" id={`do-${id}`} class={bad ? "bad" : ""} disabled={off} onClick={act}>
      {label}
    </button>
  );
}

/** What stands at the right of a header. */
export function Controls({ theme, next, help }: { theme: Theme; next: () => void; help?: Dialog }): JSX.Element {
  return (
    <span class="controls">
      <ThemeButton theme={theme} next={next} />
      {help && (
        <button type="button" id="do-help" title="keys (?)" onClick={() => help.current?.showModal()}>
          Keys
        </button>
      )}
    </span>
  );
}

/** A dialog with all keys. children: what is to be said besides. */
export function Help({ dialog, keys, children }: { dialog: Dialog; keys: [string, string][]; children: ComponentChildren }): JSX.Element {
  return (
    <dialog ref={dialog} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {keys.map(([key, means]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{means}</dd>
          </div>
        ))}
      </dl>
      {children}
      <form method="dialog">
        <KeySwitch />
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
