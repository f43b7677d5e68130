// The bundle of the pages that show executions: which one, the page says.

import { beside } from "./beside";
import { start } from "./load";
import { notebook } from "./notebook";
import { trace } from "./page";

start({ trace, beside, notebook });
