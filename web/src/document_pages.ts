// The bundle of the pages that are read like a document: which one, the page says.

import "./base.css";
import "./document.css";
import { attempts } from "./attempts";
import { bench } from "./bench";
import { start } from "./load";
import { notebooks } from "./notebooks";

start({ attempts, bench, notebooks });
