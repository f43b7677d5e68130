// Light, dark, or as the system has it: switched by a button, and remembered where the browser keeps something.

import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export type Theme = "auto" | "light" | "dark";

function remembered(): Theme {
  try {
    const theme = localStorage.getItem("deskcheck-theme");
    return theme === "light" || theme === "dark" ? theme : "auto";
  } catch {
    return "auto"; // a page from a file may have no storage
  }
}

/** The theme, and what goes to the next one. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(remembered);
  useLayoutEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("deskcheck-theme", theme);
    } catch {
      // as above
    }
  }, [theme]);
  return [theme, () => setTheme(theme === "auto" ? "dark" : theme === "dark" ? "light" : "auto")];
}

export function ThemeButton({ theme, next }: { theme: Theme; next: () => void }): JSX.Element {
  return (
    <button type="button" id="do-theme" title="light, dark, or like the system (t)" onClick={next}>
      {theme === "auto" ? "Auto" : theme === "dark" ? "Dark" : "Light"}
    </button>
  );
}
